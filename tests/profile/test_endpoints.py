"""The address of a model stays with that model, whichever is chosen (S-2, A-2)."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bibgenie_desktop.profile.settings import Settings, SettingsUnreadable, load_settings, store_model, store_setting

BY_HAND = """\
# My settings
[model]
name = "openai/local"   # the small one
# where it runs
api_base = "http://127.0.0.1:1234/v1"   # LM Studio
temperature = 0.2

[zotero]
source = "demo"   # for now
"""
LOCAL = "http://127.0.0.1:1234/v1"


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "settings.toml"


@pytest.mark.req("S-2")
def test_another_model_does_not_get_the_address_and_the_first_finds_it_again(path: Path) -> None:
    path.write_text(BY_HAND, encoding="utf-8")
    store_model(path, "anthropic/claude")
    settings = load_settings(path)
    assert (settings.model, settings.api_base) == ("anthropic/claude", "")
    assert (settings.address("anthropic/claude"), settings.address("openai/local")) == ("", LOCAL)
    store_model(path, "openai/local")
    settings = load_settings(path)
    assert (settings.model, settings.address("openai/local"), settings.address("offline")) == (
        "openai/local",
        LOCAL,
        "",
    )


@pytest.mark.req("S-2")
def test_comments_and_all_else_survive_the_choice(path: Path) -> None:
    path.write_text(BY_HAND, encoding="utf-8")
    store_model(path, "offline")
    text = path.read_text(encoding="utf-8")
    assert text == BY_HAND.replace('"openai/local"', '"offline"').replace(
        'api_base = "http://127.0.0.1:1234/v1"   # LM Studio\n', ""
    ) + ('\n[endpoints]\n"openai/local" = "http://127.0.0.1:1234/v1"   # LM Studio\n')


@pytest.mark.req("S-2")
def test_the_same_model_chosen_again_leaves_the_file_as_it_is(path: Path) -> None:
    path.write_text(BY_HAND, encoding="utf-8")
    store_model(path, "openai/local")
    assert path.read_text(encoding="utf-8") == BY_HAND


@pytest.mark.req("S-2")
def test_an_address_beside_no_model_becomes_nobodys(path: Path) -> None:
    path.write_text(f'[model]\napi_base = "{LOCAL}"\n', encoding="utf-8")
    store_model(path, "anthropic/claude")
    settings = load_settings(path)
    assert settings.address("anthropic/claude") == ""
    assert settings.address("") == LOCAL  # kept, though no model is called so
    assert load_settings(path).model == "anthropic/claude"


@pytest.mark.req("A-2", "S-2")
def test_an_address_that_comes_with_the_choice_is_that_models(path: Path) -> None:
    path.write_text(BY_HAND, encoding="utf-8")
    store_model(path, "openai/other", "http://127.0.0.1:8000/v1")
    settings = load_settings(path)
    assert settings.address("openai/other") == "http://127.0.0.1:8000/v1"
    assert settings.address("openai/local") == LOCAL
    path.write_text(BY_HAND, encoding="utf-8")
    store_model(path, "openai/local", "http://127.0.0.1:8000/v1")
    assert load_settings(path).address("openai/local") == "http://127.0.0.1:8000/v1"


@pytest.mark.req("S-2")
def test_the_address_beside_a_model_wins_over_one_in_the_table(path: Path) -> None:
    path.write_text('[model]\nname = "m"\napi_base = "http://a"\n[endpoints]\nm = "http://b"\n', encoding="utf-8")
    assert load_settings(path).address("m") == "http://a"
    store_model(path, "n")
    assert load_settings(path).endpoints == {"m": "http://a"}


@pytest.mark.parametrize(
    "text",
    [
        'model = {name = "m", api_base = "http://a"} # one line\n',
        'model.name = "m"\nmodel.api_base = "http://a" # dotted\n',
        '[model]\napi_base = "http://a"\n[zotero]\n[model.more]\na = 1\n[endpoints]\nk = "v"\n',
        '[model]\nname = "m"\n[zotero]\n[endpoints]\n[model.more]\na = 1\n',
        'endpoints = {}\n[model]\nname = "m"\napi_base = "http://a"\n',
        '\ufeff[model]\r\nname = "m"\r\napi_base = "http://a"\r\n',
    ],
)
@pytest.mark.req("S-2")
def test_every_way_to_write_it_by_hand_is_understood(path: Path, text: str) -> None:
    path.write_text(text, encoding="utf-8", newline="")
    before = load_settings(path)
    store_setting(path, "model", "other")
    after = load_settings(path)
    assert (after.model, after.api_base, after.address("other")) == ("other", "", "")
    assert after.address(before.model) == (before.api_base or before.address(before.model))


@pytest.mark.parametrize(
    "text", ['endpoints = "http://a"\n', "[endpoints]\nm = 5\n", "[endpoints]\na.b = 'http://a'\n"]
)
def test_addresses_of_the_wrong_kind_are_told_and_left(path: Path, text: str) -> None:
    path.write_text(text, encoding="utf-8")
    with pytest.raises(SettingsUnreadable, match="endpoints"):
        load_settings(path)
    with pytest.raises(SettingsUnreadable, match="endpoints"):
        store_model(path, "m")
    assert path.read_text(encoding="utf-8") == text


texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=12)
choices = st.lists(st.tuples(st.sampled_from(["a", "b", "c"]) | texts, st.just("") | texts), max_size=5)


@pytest.mark.req("S-2")
@given(texts, texts, choices)
def test_whatever_is_chosen_each_model_has_its_own_last_address(
    tmp_path_factory: pytest.TempPathFactory, name: str, address: str, chosen: list[tuple[str, str]]
) -> None:
    path = tmp_path_factory.mktemp("settings") / "settings.toml"
    store_setting(path, "model", name)
    store_setting(path, "api_base", address)
    known = {name: address}
    for model, given_address in chosen:
        store_model(path, model, given_address)
        known[model] = given_address or known.get(model, "")
        settings = load_settings(path)
        assert settings.model == model
        assert {each: settings.address(each) for each in known if each} == {
            each: place for each, place in known.items() if each
        }


def test_settings_without_a_file_know_no_address() -> None:
    assert Settings().address("") == Settings().address("m") == ""
