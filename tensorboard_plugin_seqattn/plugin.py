"""The plugin that TensorBoard loads: default flags, routes, and name of the tab."""

from tensorboard.plugins import base_plugin

from tensorboard_plugin_seqattn.request import json_app, wsgi
from tensorboard_plugin_seqattn.series import PLUGIN_NAME, SeriesReader
from tensorboard_plugin_seqattn.static import static_files

SAMPLES = 500  # TensorBoard's loaders keep 10 or 100 steps of a series by default


class SeqAttentionLoader(base_plugin.TBLoader):
    """Loads the tab, and makes TensorBoard keep enough steps for it.

    `tensorboard --samples_per_plugin=seq_attention=50` keeps fewer steps, 0 keeps all.
    """

    def fix_flags(self, flags):
        flags.samples_per_plugin.setdefault(PLUGIN_NAME, SAMPLES)

    def load(self, context):
        if context.data_provider is None:
            return None  # there is nothing to read, so there is no tab
        return SeqAttentionPlugin(context)


class SeqAttentionPlugin(base_plugin.TBPlugin):
    """The tab *Attention*: three routes for data, and the files of the page.

    Args:
        context: `base_plugin.TBContext`.
    """

    plugin_name = PLUGIN_NAME

    def __init__(self, context):
        samples = (context.sampling_hints or {}).get(PLUGIN_NAME, SAMPLES)
        self._reader = SeriesReader(context.data_provider, samples)
        self._files = static_files()

    def is_active(self):
        """TensorBoard calls it only if no run has our data; then there is no tab."""
        return False

    def frontend_metadata(self):
        return base_plugin.FrontendMetadata(
            es_module_path="/index.js", tab_name="Attention"
        )

    def get_plugin_apps(self):
        """Every route has a full name, so that no path is looked up in a folder."""
        return {
            "/runs": json_app(self._reader.runs),
            "/series": json_app(self._reader.series),
            "/table": json_app(self._reader.table),
            **{route: _file_app(*file) for route, file in self._files.items()},
        }


def _file_app(content, content_type):
    return wsgi(lambda request: content, content_type)
