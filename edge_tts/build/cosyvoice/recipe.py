"""The checkpoint's yaml, read without executing it.

The official files are HyperPyYAML: `!new:package.Class` builds objects and `!name:` and `!apply:`
call functions. Here a tag is only remembered as a name; nothing is imported or called. `!ref <key>`
and products of references are resolved.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any, Dict, List, Optional

import yaml

from edge_tts.errors import ModelError
from edge_tts.runtime.integrity import what_instead_of_a_model

KIND = "!kind"
"""Key under which a tagged section carries the last part of its tag, as `TransformerLM`."""

_MAX_BYTES = 256 * 1024
_REFERENCE = re.compile(r"<([A-Za-z0-9_.]+)>")


class Recipe:
    """Typed look-ups by dotted path, as `llm.text_encoder.attention_heads`."""

    def __init__(self, path: Path, document: Dict[str, Any]) -> None:
        self._path = path
        self._document = document

    @classmethod
    def read(cls, path: Path) -> "Recipe":
        """Parse a checkpoint's yaml. Raises ModelError naming the file and the fault."""
        try:
            document = yaml.load(_read_text(path), _Loader)
        except (yaml.YAMLError, RecursionError, ValueError) as error:
            cause = " ".join(str(error).split())[:200]
            raise _invalid(path, f"it is not YAML ({cause})") from error
        if not isinstance(document, dict):
            raise _invalid(path, "it is not a mapping")
        return cls(path, document)

    def has(self, path: str) -> bool:
        """Whether the key exists."""
        return self._find(path) is not None

    def kind(self, path: str) -> str:
        """Class name of a section, "" where it has none."""
        section = self._find(path)
        return str(section.get(KIND, "")) if isinstance(section, dict) else ""

    def integer(self, path: str, default: Optional[int] = None) -> int:
        """A positive whole number; `default` where the key is absent."""
        value = self._value(path, default)
        if isinstance(value, bool) or not isinstance(value, int) or value <= 0:
            raise _invalid(self._path, f"{path!r} must be a positive whole number, not {value!r}")
        return value

    def number(self, path: str, default: Optional[float] = None) -> float:
        """A number; `default` where the key is absent."""
        value = self._value(path, default)
        if isinstance(value, bool) or not isinstance(value, (int, float)):
            raise _invalid(self._path, f"{path!r} must be a number, not {value!r}")
        return float(value)

    def integers(self, path: str) -> List[int]:
        """A list of whole numbers."""
        value = self._value(path, None)
        if not isinstance(value, list) or not value or not all(type(v) is int for v in value):
            raise _invalid(self._path, f"{path!r} must be a list of whole numbers")
        return value

    def integer_lists(self, path: str) -> List[List[int]]:
        """A list of lists of whole numbers."""
        value = self._value(path, None)
        rows = value if isinstance(value, list) else [None]
        if not all(isinstance(row, list) and all(type(v) is int for v in row) for row in rows):
            raise _invalid(self._path, f"{path!r} must be a list of lists of whole numbers")
        return rows

    def _value(self, path: str, default: Optional[float]) -> Any:
        value = self._resolve(self._find(path), depth=0)
        if value is not None:
            return value
        if default is None:
            raise _invalid(self._path, f"it lacks {path!r}")
        return default

    def _find(self, path: str) -> Any:
        node: Any = self._document
        for key in path.split("."):
            node = node.get(key) if isinstance(node, dict) else None
        return node

    def _resolve(self, value: Any, depth: int) -> Any:
        if not isinstance(value, _Reference):
            return value
        if depth > 8:
            raise _invalid(self._path, f"the reference {value.text!r} leads in a circle")
        factors = [part.strip() for part in value.text.split("*")]
        result: Any = None
        for factor in factors:
            match = _REFERENCE.fullmatch(factor)
            if match is None:
                raise _invalid(self._path, f"the reference {value.text!r} is not understood")
            found = self._resolve(self._find(match.group(1)), depth + 1)
            result = found if result is None or found is None else result * found
        return result


class _Reference:
    """`!ref <a> * <b>`, resolved when it is looked up."""

    def __init__(self, text: str) -> None:
        self.text = text


class _Loader(yaml.SafeLoader):
    """Safe loader that keeps unknown tags as names."""


def _tagged(loader: _Loader, suffix: str, node: yaml.Node) -> Any:
    if isinstance(node, yaml.MappingNode):
        section = loader.construct_mapping(node, deep=True)
        section[KIND] = _last_name(suffix)
        return section
    if isinstance(node, yaml.SequenceNode):
        return loader.construct_sequence(node, deep=True)
    if suffix == "ref":
        return _Reference(str(node.value))
    return {KIND: _last_name(suffix)}


def _last_name(tag: str) -> str:
    """`TransformerLM` of `new:cosyvoice.llm.llm.TransformerLM`."""
    return re.split("[:.]", tag)[-1]


_Loader.add_multi_constructor("!", _tagged)


def _read_text(path: Path) -> str:
    try:
        impostor = what_instead_of_a_model(path)
        with path.open("rb") as file:
            head = file.read(_MAX_BYTES + 1)
        text = head.decode("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise _invalid(path, f"it cannot be read ({error})") from error
    if impostor:
        raise ModelError(
            f"{path} is {impostor}; download the checkpoint again", code="model.not_a_model"
        )
    if len(head) > _MAX_BYTES:
        raise _invalid(path, f"it is longer than {_MAX_BYTES} bytes")
    return text


def _invalid(path: Path, cause: str) -> ModelError:
    return ModelError(
        f"{path} is not a CosyVoice recipe: {cause}; download the checkpoint again",
        code="model.checkpoint_invalid",
    )
