"""Published numbers as literals, with the recipes that rebuild their inputs."""
