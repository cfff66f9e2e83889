"""The commands of ``python -m biasret``: one function each, from arguments to exit code."""
