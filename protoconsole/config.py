"""One YAML file and the environment become one typed value. No Django."""

import difflib
import math
from collections.abc import Mapping
from dataclasses import Field, dataclass, field, fields, replace
from pathlib import Path
from typing import Any, TypeVar

import yaml

from protoconsole.rules import Choice, Flag, Integer, Number, Rule, Sizes, Text, TextList

CONFIG_ENV = "PROTOCONSOLE_CONFIG"
DEFAULT_FILES = ("config.yaml", "config/langgraph-config.yaml")
SCOPES = ("scoped", "shared", "layered")

T = TypeVar("T")


class ConfigError(Exception):
    """A setting that stops the start; its text is one line with file, key, value and range."""


def setting(default: T, rule: Rule, *, secret: bool = False) -> T:
    """Declare a key with its default and the rule for what a file may say."""
    declared: T = field(default=default, repr=not secret, metadata={"rule": rule, "secret": secret})
    return declared


@dataclass(frozen=True, slots=True)
class Model:
    name: str = setting("", Text())
    api_base: str = setting("", Text())
    api_key: str = setting("", Text(), secret=True)
    windows: Mapping[str, int] = field(
        default_factory=dict, metadata={"rule": Sizes(Integer(1, 100_000_000)), "secret": False}
    )


@dataclass(frozen=True, slots=True)
class Routing:
    aux_model: str = setting("", Text())


@dataclass(frozen=True, slots=True)
class Knowledge:
    db_path: str = setting("", Text())
    embeddings: bool = setting(False, Flag())
    embed_model: str = setting("qwen3-embedding", Text())
    facts: bool = setting(True, Flag())
    top_k: int = setting(5, Integer(None, 1_000))
    inject_namespaces: tuple[str, ...] = setting((), TextList())
    inject_min_trust: int = setting(1, Integer(1, 3))
    hot_write_confirm: bool = setting(False, Flag())
    reject_invalidates: bool = setting(False, Flag())
    scope: str = setting("scoped", Choice(SCOPES))
    vector_k: int = setting(20, Integer(1, 10_000))
    rrf_k: int = setting(60, Integer(1, 10_000))
    min_score: float = setting(0.0, Number(0, 1))
    recall_preview_chars: int = setting(1_000, Integer(1, 100_000))
    embed_breaker_threshold: int = setting(2, Integer(1, 1_000))
    embed_breaker_cooldown_s: float = setting(300.0, Number(0, 86_400))
    chunk_max_chars: int = setting(1_200, Integer(100, 100_000))
    chunk_overlap_chars: int = setting(150, Integer(0, 50_000))
    chunk_min_chars: int = setting(200, Integer(0, 100_000))


@dataclass(frozen=True, slots=True)
class Memory:
    path: str = setting("", Text())
    max_sessions: int = setting(10, Integer(0, 10_000))
    max_tokens: int = setting(2_000, Integer(0, 10_000_000))
    injections_keep_days: int = setting(365, Integer(0, 36_500))  # 0 keeps the log for ever


@dataclass(frozen=True, slots=True)
class Context:
    budget_pct: float = setting(8.0, Number(0, 100))
    prior_sessions: str = setting("newest", Choice(("newest", "relevant", "off")))


@dataclass(frozen=True, slots=True)
class Skills:
    enabled: bool = setting(True, Flag())
    db_path: str = setting("", Text())
    dir: str = setting("", Text())
    top_k: int = setting(24, Integer(0, 10_000))
    scope: str = setting("scoped", Choice(SCOPES))


@dataclass(frozen=True, slots=True)
class Commons:
    path: str = setting("", Text())


@dataclass(frozen=True, slots=True)
class Checkpoint:
    max_age_days: float = setting(30.0, Number(1, 36_500))
    prune_interval_hours: float = setting(6.0, Number(0.01, 8_760))
    harvest_enabled: bool = setting(True, Flag())


@dataclass(frozen=True, slots=True)
class Middleware:
    knowledge: bool = setting(True, Flag())
    memory: bool = setting(True, Flag())


@dataclass(frozen=True, slots=True)
class Config:
    """Everything that may be configured, by block, with the file it came from and what is odd about it."""

    model: Model = field(default_factory=Model)
    routing: Routing = field(default_factory=Routing)
    knowledge: Knowledge = field(default_factory=Knowledge)
    memory: Memory = field(default_factory=Memory)
    context: Context = field(default_factory=Context)
    skills: Skills = field(default_factory=Skills)
    commons: Commons = field(default_factory=Commons)
    checkpoint: Checkpoint = field(default_factory=Checkpoint)
    middleware: Middleware = field(default_factory=Middleware)
    file: Path | None = None
    warnings: tuple[str, ...] = ()

    @property
    def aux_model(self) -> str:
        """The model for summaries and facts: the routed one, else the default model."""
        return self.routing.aux_model or self.model.name


BLOCKS: Mapping[str, type[Any]] = {
    "model": Model,
    "routing": Routing,
    "knowledge": Knowledge,
    "memory": Memory,
    "context": Context,
    "skills": Skills,
    "commons": Commons,
    "checkpoint": Checkpoint,
    "middleware": Middleware,
}


def load_config(env: Mapping[str, str], instance_root: Path) -> Config:
    """Read the one configuration file that applies; raise `ConfigError` when it cannot be obeyed."""
    file = find_file(env, instance_root)
    config = Config() if file is None else _parse(file, _read(file))
    key = config.model.api_key or env.get("OPENAI_API_KEY", "").strip()
    return replace(config, model=replace(config.model, api_key=key))


def find_file(env: Mapping[str, str], instance_root: Path) -> Path | None:
    """Name the file that applies: the one of the environment, else ours, else protoAgent's, else none."""
    named = env.get(CONFIG_ENV, "").strip()
    if named:
        return Path(named).expanduser()
    candidates = (instance_root / name for name in DEFAULT_FILES)
    return next((path for path in candidates if path.exists()), None)


def _read(file: Path) -> Mapping[object, object]:
    try:
        document = yaml.load(file.read_text("utf-8-sig"), _Loader)  # noqa: S506 - a SafeLoader underneath
    except OSError as error:
        raise ConfigError(f"{file}: cannot be read: {error.strerror or error}") from error
    except UnicodeDecodeError as error:
        raise ConfigError(f"{file}: is not UTF-8 text") from error
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        raise ConfigError(f"{file}: is not readable YAML: {_one_line(error)}") from error
    if document is None:
        return {}
    if not isinstance(document, dict):
        raise ConfigError(f"{file}: must be a mapping of blocks, not {_shown(document)}")
    return document


def _parse(file: Path, document: Mapping[object, object]) -> Config:
    warnings: list[str] = []
    blocks = {name: _parse_block(file, name, document[name], warnings) for name in BLOCKS if name in document}
    config = Config(**blocks, file=file, warnings=tuple(warnings))
    _check_chunking(file, config.knowledge)
    return config


def _parse_block(file: Path, name: str, value: object, warnings: list[str]) -> Any:
    block = BLOCKS[name]
    if value is None:
        return block()
    if not isinstance(value, dict):
        raise ConfigError(f"{file}: {name}: must be a mapping of keys, not {_shown(value)}")
    known = {item.name: item for item in fields(block)}
    warnings.extend(_unknown_key(file, name, str(key), known) for key in value if key not in known)
    return block(
        **{
            key: _parse_value(file, f"{name}.{key}", known[key], raw)
            for key, raw in value.items()
            if key in known and raw is not None
        }
    )


def _parse_value(file: Path, key: str, declared: Field[Any], raw: object) -> object:
    rule: Rule = declared.metadata["rule"]
    try:
        return rule.parse(raw)
    except ValueError as error:
        shown = "the value given" if declared.metadata["secret"] else _shown(raw)
        raise ConfigError(f"{file}: {key}: {shown} is not allowed, must be {rule.allowed}") from error


def _check_chunking(file: Path, knowledge: Knowledge) -> None:
    for key in ("chunk_overlap_chars", "chunk_min_chars"):
        value: int = getattr(knowledge, key)
        if value >= knowledge.chunk_max_chars:
            allowed = f"a whole number below knowledge.chunk_max_chars ({knowledge.chunk_max_chars})"
            raise ConfigError(f"{file}: knowledge.{key}: {value} is not allowed, must be {allowed}")


def _unknown_key(file: Path, block: str, key: str, known: Mapping[str, object]) -> str:
    near = difflib.get_close_matches(key, known, n=1, cutoff=0.0)
    hint = f"; did you mean {block}.{near[0]}?" if near else ""
    return f"{file}: {block}.{_one_line(key)}: unknown key{hint}"


def _shown(value: object) -> str:
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    text = ascii(value)
    return text if len(text) <= 60 else f"{text[:57]}..."


def _one_line(problem: object) -> str:
    return " ".join("".join(c if c.isprintable() else " " for c in str(problem)).split())


class _Loader(yaml.SafeLoader):
    """A safe loader that refuses a key given twice, where YAML would silently keep the last."""

    def compose_mapping_node(self, anchor: Any) -> yaml.MappingNode:
        node = super().compose_mapping_node(anchor)
        seen: set[str] = set()
        for key in (key for key, _ in node.value if isinstance(key, yaml.ScalarNode)):
            if key.value in seen:
                problem = f"the key {key.value!a} is given twice"
                raise yaml.composer.ComposerError(None, None, problem, key.start_mark)
            seen.add(key.value)
        return node
