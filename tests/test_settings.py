"""Settings from the environment."""

import re
from pathlib import Path

import pytest

from backend.domain.errors import OperatorError
from backend.environment import load_settings, settings_in, unknown_variables
from backend.settings import InvalidSetting, Settings


def test_defaults_without_environment(tmp_path: Path) -> None:
    """With nothing set, every setting has its default, and the base URL follows the port."""
    assert load_settings({}, tmp_path / ".env") == Settings()
    assert Settings().base_url == "http://localhost:8080"


def test_the_environment_stands_over_the_file(tmp_path: Path) -> None:
    """A variable of the environment wins over the same one in .env; others of the file hold."""
    dotenv = tmp_path / ".env"
    dotenv.write_text("WAYLINK_PORT=9000\nWAYLINK_DEMO_PORT=9001\n")
    settings = load_settings({"WAYLINK_PORT": "9100"}, dotenv)
    assert (settings.port, settings.demo_port, settings.base_url) == (9100, 9001, "http://localhost:9100")


@pytest.mark.parametrize(
    ("variable", "value"),
    [
        ("WAYLINK_PORT", "http"),
        ("WAYLINK_PORT", "70000"),
        ("WAYLINK_BASE_URL", "shop.com"),
        ("WAYLINK_RATE_LIMIT", "0"),
        ("WAYLINK_SDK_PREFIXES", "hello"),
        ("WAYLINK_SDK_PREFIXES", "/"),
        ("WAYLINK_SDK_PREFIXES", "/a/"),
        ("WAYLINK_SDK_PREFIXES", "/a//hello"),
        ("WAYLINK_SDK_PREFIXES", "/a/../hello"),
        ("WAYLINK_SDK_PREFIXES", "/a?b"),
        ("WAYLINK_SDK_PREFIXES", "/a,/serviceCore/sdk"),
    ],
)
def test_a_bad_value_is_refused_by_name(variable: str, value: str, tmp_path: Path) -> None:
    """A value that breaks its rule is refused with the variable's name and the rule."""
    with pytest.raises(InvalidSetting, match=f"{variable} is {re.escape(repr(value))}, but it must be"):
        load_settings({variable: value}, tmp_path / ".env")


def test_prefixes_of_the_sdk(tmp_path: Path) -> None:
    """Names are paths of any length, separated by commas."""
    settings = load_settings({"WAYLINK_SDK_PREFIXES": "/a/hello, /b-2/.well.known"}, tmp_path / ".env")
    assert settings.sdk_prefixes == ("/a/hello", "/b-2/.well.known")


def test_misspelt_variables_are_found() -> None:
    """A WAYLINK_ variable that no setting has is named; others are none of ours."""
    assert unknown_variables({"WAYLINK_PROT": "1", "WAYLINK_PORT": "1", "PATH": "/"}) == ["WAYLINK_PROT"]


def test_a_file_that_is_no_text(tmp_path: Path) -> None:
    """Whoever names it is told so."""
    file = tmp_path / "waylink.env"
    file.write_bytes("WAYLINK_DATA_DIR=caf\u00e9".encode("latin-1"))
    with pytest.raises(OperatorError, match="it is not text in UTF-8"):
        settings_in(file)
