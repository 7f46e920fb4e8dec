"""What the configuration file may say, and what a wrong one is answered."""

from dataclasses import FrozenInstanceError, asdict
from pathlib import Path

import pytest

from protoconsole.config import BLOCKS, Config, ConfigError, load_config

CONTRACT_DEFAULTS = {
    "model": {"name": "", "api_base": "", "api_key": "", "windows": {}},
    "routing": {"aux_model": ""},
    "knowledge": {
        "db_path": "",
        "embeddings": False,
        "embed_model": "qwen3-embedding",
        "facts": True,
        "top_k": 5,
        "inject_namespaces": (),
        "inject_min_trust": 1,
        "hot_write_confirm": False,
        "reject_invalidates": False,
        "scope": "scoped",
        "vector_k": 20,
        "rrf_k": 60,
        "min_score": 0.0,
        "recall_preview_chars": 1000,
        "embed_breaker_threshold": 2,
        "embed_breaker_cooldown_s": 300,
        "chunk_max_chars": 1200,
        "chunk_overlap_chars": 150,
        "chunk_min_chars": 200,
    },
    "memory": {"path": "", "max_sessions": 10, "max_tokens": 2000, "injections_keep_days": 365},
    "context": {"budget_pct": 8, "prior_sessions": "newest"},
    "skills": {"enabled": True, "db_path": "", "dir": "", "top_k": 24, "scope": "scoped"},
    "commons": {"path": ""},
    "checkpoint": {"max_age_days": 30, "prune_interval_hours": 6, "harvest_enabled": True},
    "middleware": {"knowledge": True, "memory": True},
}


def load(root: Path, text: str, **env: str) -> Config:
    (root / "config.yaml").write_text(text, "utf-8")
    return load_config(env, root)


def refusal(root: Path, text: str) -> str:
    with pytest.raises(ConfigError) as caught:
        load(root, text)
    message = str(caught.value)
    assert "\n" not in message
    return message.removeprefix(f"{root / 'config.yaml'}: ")


def test_without_a_file_every_key_has_the_default_of_the_contract(tmp_path: Path) -> None:
    config = load_config({}, tmp_path)
    assert {name: asdict(getattr(config, name)) for name in BLOCKS} == CONTRACT_DEFAULTS
    assert (config.file, config.warnings) == (None, ())


def test_the_file_changes_what_it_names_and_nothing_else(tmp_path: Path) -> None:
    config = load(
        tmp_path,
        "knowledge: {top_k: 7, inject_namespaces: [a, ''], scope: layered}\n"
        "model: {name: big, windows: {big: 32000}}\n",
    )
    assert (config.knowledge.top_k, config.knowledge.inject_namespaces) == (7, ("a", ""))
    assert (config.knowledge.scope, config.knowledge.vector_k) == ("layered", 20)
    assert config.model.windows == {"big": 32000}
    assert config.file == tmp_path / "config.yaml"


def test_a_config_cannot_be_changed(tmp_path: Path) -> None:
    with pytest.raises(FrozenInstanceError):
        load_config({}, tmp_path).knowledge.top_k = 3  # type: ignore[misc]


def test_the_environment_names_the_file_before_any_other(tmp_path: Path) -> None:
    other = tmp_path / "other.yaml"
    other.write_text("memory: {max_sessions: 3}", "utf-8")
    config = load(tmp_path, "memory: {max_sessions: 4}", PROTOCONSOLE_CONFIG=str(other))
    assert (config.memory.max_sessions, config.file) == (3, other)


def test_our_own_file_comes_before_that_of_the_other_program(tmp_path: Path) -> None:
    (tmp_path / "config").mkdir()
    theirs = tmp_path / "config" / "langgraph-config.yaml"
    theirs.write_text("memory: {max_sessions: 3}", "utf-8")
    assert load_config({}, tmp_path).file == theirs
    assert load(tmp_path, "memory: {max_sessions: 4}").memory.max_sessions == 4


def test_an_empty_variable_counts_as_unset(tmp_path: Path) -> None:
    assert load_config({"PROTOCONSOLE_CONFIG": "  "}, tmp_path).file is None


def test_a_named_file_that_is_missing_stops_the_start(tmp_path: Path) -> None:
    missing = tmp_path / "none.yaml"
    with pytest.raises(ConfigError, match="No such file") as caught:
        load_config({"PROTOCONSOLE_CONFIG": str(missing)}, tmp_path)
    assert str(caught.value).startswith(f"{missing}: ")


def test_a_folder_in_place_of_the_file_stops_the_start(tmp_path: Path) -> None:
    (tmp_path / "config.yaml").mkdir()
    with pytest.raises(ConfigError, match="cannot be read"):
        load_config({}, tmp_path)


@pytest.mark.parametrize(
    "text", ["", "# nothing\n", "knowledge:\n", "knowledge: {}\n", "knowledge: {top_k: null}\n", "\ufeff{}"]
)
def test_what_is_left_empty_has_its_default(tmp_path: Path, text: str) -> None:
    assert load(tmp_path, text).knowledge == Config().knowledge


def test_unknown_blocks_are_ignored(tmp_path: Path) -> None:
    assert load(tmp_path, "plugins: [1, 2]\n7: x\nsubagents: {a: b}\n").warnings == ()


@pytest.mark.parametrize(
    ("text", "warning"),
    [
        ("knowledge: {topk: 3}", "knowledge.topk: unknown key; did you mean knowledge.top_k?"),
        ("memory: {max_session: 3}", "memory.max_session: unknown key; did you mean memory.max_sessions?"),
        ("commons: {1: 3}", "commons.1: unknown key; did you mean commons.path?"),
        ('commons: {"a\\nb": 3}', "commons.a b: unknown key; did you mean commons.path?"),
    ],
)
def test_an_unknown_key_is_a_warning_with_the_nearest_known_one(
    tmp_path: Path, text: str, warning: str
) -> None:
    assert load(tmp_path, text).warnings == (f"{tmp_path / 'config.yaml'}: {warning}",)


TOP_K = "a whole number of at most 1000"
TRUST = "a whole number from 1 to 3"
FLAG = "true or false"


@pytest.mark.parametrize(
    ("text", "key", "value", "allowed"),
    [
        ("knowledge: {top_k: true}", "knowledge.top_k", "True", TOP_K),
        ("knowledge: {top_k: '5'}", "knowledge.top_k", "'5'", TOP_K),
        ("knowledge: {top_k: 5.0}", "knowledge.top_k", "5.0", TOP_K),
        ("knowledge: {top_k: 1001}", "knowledge.top_k", "1001", TOP_K),
        ("knowledge: {top_k: [5]}", "knowledge.top_k", "[5]", TOP_K),
        ("knowledge: {inject_min_trust: 0}", "knowledge.inject_min_trust", "0", TRUST),
        ("knowledge: {inject_min_trust: 4}", "knowledge.inject_min_trust", "4", TRUST),
        ("knowledge: {facts: 1}", "knowledge.facts", "1", FLAG),
        ("knowledge: {facts: 'true'}", "knowledge.facts", "'true'", FLAG),
        ("knowledge: {min_score: .nan}", "knowledge.min_score", "nan", "a number from 0 to 1"),
        ("knowledge: {min_score: .inf}", "knowledge.min_score", "inf", "a number from 0 to 1"),
        ("knowledge: {min_score: false}", "knowledge.min_score", "False", "a number from 0 to 1"),
        ("context: {budget_pct: -1}", "context.budget_pct", "-1", "a number from 0 to 100"),
        ("context: {budget_pct: 101}", "context.budget_pct", "101", "a number from 0 to 100"),
        ("context: {prior_sessions: on}", "context.prior_sessions", "True", "one of newest, relevant, off"),
        ("knowledge: {scope: wide}", "knowledge.scope", "'wide'", "one of scoped, shared, layered"),
        ("knowledge: {scope: no}", "knowledge.scope", "False", "one of scoped, shared, layered"),
        ("memory: {path: 3}", "memory.path", "3", "one line of text"),
        ('memory: {path: "a\\0b"}', "memory.path", "'a\\x00b'", "one line of text"),
        (
            "knowledge: {inject_namespaces: a}",
            "knowledge.inject_namespaces",
            "'a'",
            "a list of lines of text",
        ),
        (
            "knowledge: {inject_namespaces: [1]}",
            "knowledge.inject_namespaces",
            "[1]",
            "a list of lines of text",
        ),
        (
            "knowledge: {chunk_overlap_chars: 1200}",
            "knowledge.chunk_overlap_chars",
            "1200",
            "a whole number below knowledge.chunk_max_chars (1200)",
        ),
        (
            "knowledge: {chunk_max_chars: 200, chunk_overlap_chars: 20}",
            "knowledge.chunk_min_chars",
            "200",
            "a whole number below knowledge.chunk_max_chars (200)",
        ),
        (
            "model: {windows: {m: 0}}",
            "model.windows",
            "{'m': 0}",
            "a mapping of names, each to a whole number from 1 to 100000000",
        ),
        (
            "model: {windows: [m]}",
            "model.windows",
            "['m']",
            "a mapping of names, each to a whole number from 1 to 100000000",
        ),
    ],
)
def test_a_wrong_value_is_one_line_with_key_value_and_range(
    tmp_path: Path, text: str, key: str, value: str, allowed: str
) -> None:
    assert refusal(tmp_path, text) == f"{key}: {value} is not allowed, must be {allowed}"


@pytest.mark.parametrize("block", ["[1]", "text", "5", "true"])
def test_a_block_that_is_no_mapping_stops_the_start(tmp_path: Path, block: str) -> None:
    assert refusal(tmp_path, f"memory: {block}").startswith("memory: must be a mapping of keys, not ")


@pytest.mark.parametrize("text", ["- a\n- b\n", "text", "5"])
def test_a_file_that_is_no_mapping_stops_the_start(tmp_path: Path, text: str) -> None:
    assert refusal(tmp_path, text).startswith("must be a mapping of blocks, not ")


@pytest.mark.parametrize(
    "text",
    [
        "knowledge: [",
        "knowledge: {top_k: 1}\nknowledge: {top_k: 2}\n",
        "knowledge: {top_k: 1, top_k: 2}",
        "a: *b",
        "a: !!python/object/apply:os.getcwd []",
        "a: 2026-13-45",
        "{[a]: 1}",
        "a: \x01",
        "[" * 3000,
    ],
)
def test_unreadable_yaml_is_one_line(tmp_path: Path, text: str) -> None:
    assert refusal(tmp_path, text).startswith("is not readable YAML: ")


def test_a_merged_key_may_be_given_again(tmp_path: Path) -> None:
    text = "base: &base {max_sessions: 3, max_tokens: 9}\nmemory:\n  <<: *base\n  max_tokens: 8\n"
    config = load(tmp_path, text)
    assert (config.memory.max_sessions, config.memory.max_tokens) == (3, 8)


def test_merges_may_stand_on_one_another(tmp_path: Path) -> None:
    text = "a: &a {max_sessions: 3}\nb: &b\n  <<: *a\n  max_sessions: 4\nmemory:\n  <<: *b\n  max_tokens: 8\n"
    config = load(tmp_path, text)
    assert (config.memory.max_sessions, config.memory.max_tokens) == (4, 8)


def test_a_file_that_is_not_utf8_is_one_line(tmp_path: Path) -> None:
    (tmp_path / "config.yaml").write_bytes(b"model: {name: \xff}")
    with pytest.raises(ConfigError, match="is not UTF-8 text"):
        load_config({}, tmp_path)


def test_a_bare_off_is_the_word_off(tmp_path: Path) -> None:
    assert load(tmp_path, "context: {prior_sessions: off}").context.prior_sessions == "off"


def test_a_negative_top_k_is_allowed_and_means_none(tmp_path: Path) -> None:
    assert load(tmp_path, "knowledge: {top_k: -1}").knowledge.top_k == -1


def test_a_long_value_is_cut_in_the_message(tmp_path: Path) -> None:
    assert len(refusal(tmp_path, f"knowledge: {{scope: {'x' * 5000}}}")) < 200


def test_the_gateway_key_comes_from_the_file_then_the_environment(tmp_path: Path) -> None:
    environment = {"OPENAI_API_KEY": "from-env"}
    assert load_config(environment, tmp_path).model.api_key == "from-env"
    assert load(tmp_path, "model: {api_key: from-file}", **environment).model.api_key == "from-file"


def test_the_gateway_key_is_never_shown(tmp_path: Path) -> None:
    config = load(tmp_path, "model: {api_key: hush-hush}")
    assert "hush-hush" not in repr(config)
    assert "12345678" not in refusal(tmp_path, "model: {api_key: 12345678}")


@pytest.mark.parametrize(
    ("text", "model"),
    [("model: {name: big}", "big"), ("model: {name: big}\nrouting: {aux_model: small}", "small"), ("", "")],
)
def test_the_model_for_summaries_falls_back_to_the_default_one(tmp_path: Path, text: str, model: str) -> None:
    assert load(tmp_path, text).aux_model == model
