"""Tiny backbones and tokenizers of KerasHub."""

import functools
import io

import keras_hub
import sentencepiece

from keras_seqattn.text import hub_checks

SMALL = {"num_layers": 1, "num_heads": 2, "hidden_dim": 8, "intermediate_dim": 16}
LETTERS = "abcdefghijklmnopqrstuvwxyz"


def bert(vocabulary_size=20, **options):
    options = {**SMALL, "max_sequence_length": 12, **options}
    return keras_hub.models.BertBackbone(vocabulary_size, **options)


def roberta(**options):
    return keras_hub.models.RobertaBackbone(20, **SMALL, **options)


def bert_tokenizer(**options):
    pieces = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *LETTERS, *",!'1中"]
    pieces += [f"##{x}" for x in f"{LETTERS}1"] + ["the", "ete", "été"]
    return keras_hub.models.BertTokenizer(pieces, **options)


def byte_pairs(special, kind, bytes_left_out=0, **options):
    spelled = hub_checks._spelled_bytes()
    spelled = spelled[: len(spelled) - bytes_left_out]
    pieces = [*special, *spelled, "Ġt", "he", "Ġthe"]
    vocabulary = {piece: i for i, piece in enumerate(pieces)}
    return kind(vocabulary, ["Ġ t", "h e", "Ġt he"], **options)


def roberta_tokenizer(unknown="<unk>", **options):
    special = ["<s>", "<pad>", "</s>", unknown, "<mask>"]
    return byte_pairs(special, keras_hub.models.RobertaTokenizer, **options)


def gpt2_tokenizer():
    return byte_pairs(["<|endoftext|>"], keras_hub.models.GPT2Tokenizer)


def with_padding_at_the_end():
    tokenizer = bert_tokenizer()
    tokenizer.pad_token_id = tokenizer.end_token_id
    return tokenizer


@functools.cache
def sentence_piece(**options):
    file = io.BytesIO()
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter(["the quick brown fox", "a lazy dog", "jumps over it"]),
        model_writer=file,
        vocab_size=45,
        hard_vocab_limit=False,
        minloglevel=2,
        **options,
    )
    return file.getvalue()


def t5_tokenizer(**options):
    model = sentence_piece(pad_id=0, eos_id=1, unk_id=2, bos_id=-1)
    return keras_hub.models.T5Tokenizer(model, **options)


def xlm_roberta_tokenizer():
    model = sentence_piece(unk_id=0, bos_id=1, eos_id=2, pad_id=-1)
    return keras_hub.models.XLMRobertaTokenizer(model)
