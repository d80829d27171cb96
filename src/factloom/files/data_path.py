"""Paths in recipes may hold environment variables: "$FACTLOOM_DATA/redocred/train.json"."""

import os
from string import Template

from factloom.errors import RecipeError

DEFAULT_DATA = "../shared/data"  # what FACTLOOM_DATA is where it is not set


def data_path(path: str) -> str:
    """A path with its environment variables filled in."""
    known = {"FACTLOOM_DATA": DEFAULT_DATA, **os.environ}
    try:
        return Template(path).substitute(known)
    except (KeyError, ValueError) as error:  # not set, or a "$" without a name
        raise RecipeError("recipe-variable", path=path) from error
