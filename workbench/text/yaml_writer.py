"""YAML of plain values, for files that a person reads and changes: texts of several lines as blocks."""

import re
from typing import Any, Final, cast

from workbench.text.yaml_nodes import YamlError, parse_yaml

_WIDTH: Final = 110
_OTHER_LINE_ENDS: Final = re.compile("[\r\x85\u2028\u2029\ufeff]")


def yaml_text(value: object) -> str:
    """Return a value of dicts, lists and scalars as YAML that `parse_yaml` reads as the same value.

    A key `<<` is read as a merge, however it is quoted.
    """
    import yaml

    class Writer(yaml.SafeDumper):
        def ignore_aliases(self, data: object) -> bool:
            del data
            return True

        def increase_indent(self, flow: bool = False, indentless: bool = False) -> None:
            del indentless
            cast("Any", super()).increase_indent(flow, False)

    Writer.add_representer(str, _text_node)
    dump = cast("Any", yaml).dump
    return cast("str", dump(value, Dumper=Writer, sort_keys=False, allow_unicode=True, width=_WIDTH))


def _text_node(writer: Any, text: str) -> Any:
    if _OTHER_LINE_ENDS.search(text) or ("\n" not in text and _reads_as_other(text)):
        style = '"'
    elif "\n" in text:
        style = "|"
    else:
        style = None
    return writer.represent_scalar("tag:yaml.org,2002:str", text, style=style)


def _reads_as_other(text: str) -> bool:
    """Return whether a plain text would be a number or a word of YAML 1.2: PyYAML writes YAML 1.1."""
    try:
        return not isinstance(parse_yaml(text).value, str) if text.isascii() else False
    except YamlError:
        return False
