"""The kinds of models that are exported, two files each: what runs it, and what is exported.

joint.py         LIGHT    a component that runs the graphs, without torch
joint_parts.py   EXPORT   the parts of the model that become graphs (light/parts.py)
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from factloom.light.parts import Exported

KINDS = ("joint", "reader", "tagger", "atlop")


def light_kind(kind: str) -> Any:
    """The class that runs models of this kind: `(path, config, precision)`."""
    return import_module(f"factloom.light.{kind}").LIGHT


def exported_kind(kind: str) -> "Exported":
    """How models of this kind are exported; needs torch."""
    found: Exported = import_module(f"factloom.light.{kind}_parts").EXPORT
    return found
