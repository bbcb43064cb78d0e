"""Request bodies drawn from a JSON schema of the API's own: right ones, and ones spoilt in a place.

Knows what the bodies of this API are made of: flat objects of strings, numbers, booleans, choices
and null.
"""

from __future__ import annotations

from typing import Any, Dict

from hypothesis import strategies as st

Schema = Dict[str, Any]

# What a schema allows and a text is full of: no surrogates, which JSON holds and text does not.
TEXTS = st.text(st.characters(blacklist_categories=("Cs",)), max_size=40)
JUNK = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner),
    max_leaves=8,
)
SPOILT_TEXTS = st.sampled_from(
    ["", "\x00", "\ud800", "a\nb", "x" * 300, "x" * 20_001, "<speak>", "[SPKnobody]", "☃", "\u202e"]
)
SPOILT_NUMBERS = st.sampled_from([0, -1, 2.1, 1e308, float("inf"), float("nan"), 10**40])


class Bodies:
    """Strategies for the bodies of one operation. `api` is the whole description."""

    def __init__(self, api: Schema, operation: Schema) -> None:
        self._api = api
        schema = operation["requestBody"]["content"]["application/json"]["schema"]
        self._fields: Dict[str, Schema] = self._resolved(schema)["properties"]
        self._required = self._resolved(schema)["required"]

    def valid(self) -> st.SearchStrategy[Any]:
        """Bodies as described."""
        drawn = {name: self._value(schema) for name, schema in self._fields.items()}
        needed = {name: drawn.pop(name) for name in self._required}
        return st.fixed_dictionaries(needed, optional=drawn)

    def spoilt(self) -> st.SearchStrategy[Any]:
        """Bodies as described but for one field, which is missing, new or anything at all."""
        names = st.sampled_from([*self._fields, "unknown"])
        values = JUNK | SPOILT_TEXTS | SPOILT_NUMBERS
        changed = st.builds(
            lambda body, name, value: {**body, name: value}, self.valid(), names, values
        )
        without = st.builds(
            lambda body, name: {key: body[key] for key in body if key != name}, self.valid(), names
        )
        return changed | without | JUNK

    def _resolved(self, schema: Schema) -> Schema:
        while "$ref" in schema:
            found: Any = self._api
            for part in schema["$ref"].split("/")[1:]:
                found = found[part]
            schema = found
        return schema

    def _value(self, schema: Schema) -> st.SearchStrategy[Any]:
        schema = self._resolved(schema)
        if "anyOf" in schema or "allOf" in schema:
            choices = schema.get("anyOf") or schema["allOf"][:1]
            return st.one_of([self._value(choice) for choice in choices])
        if "enum" in schema:
            return st.sampled_from(schema["enum"])
        if "pattern" in schema:
            return st.from_regex(schema["pattern"], fullmatch=True)
        if schema["type"] == "string":
            limit = schema.get("maxLength", 40)
            return TEXTS.map(lambda text: text[:limit])
        if schema["type"] == "number":
            return st.floats(schema["minimum"], schema["maximum"])
        return {"boolean": st.booleans(), "null": st.none()}[schema["type"]]
