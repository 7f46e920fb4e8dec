"""Synthetic memory for benchmarks: Zipfian text, a realistic spread of attributes, always the same."""

from collections.abc import Iterator
from itertools import accumulate
from random import Random

DOMAINS = {"fact": 40, "general": 30, "conversation": 15, "finding": 10, "preferences": 4, "hot": 1}
SOURCE_TYPES = {"extracted": 40, "html": 25, "conversation": 20, "pdf": 10, "operator": 5}
VERDICTS = {"pending": 60, "confirmed": 35, "rejected": 5}
WORDS_OF_A_ROW = 55  # about 340 characters, the average of PERF's synthetic text
FUNCTION_WORDS = [
    "the",
    "of",
    "and",
    "to",
    "in",
    "is",
    "for",
    "on",
    "with",
    "that",
    "by",
    "as",
    "at",
    "from",
    "it",
    "are",
    "was",
    "be",
    "this",
    "our",
]
SYLLABLES = [c + v for c in "bcdfghjklmnprstvwz" for v in ("a", "e", "i", "o", "u", "en", "ar", "ist")]

Row = tuple[str, str, str | None, str, str, str, str, str, str]


class Synthesis:
    """A source of rows and questions; the same seed gives the same ones."""

    def __init__(self, seed: int = 1) -> None:
        self.random = Random(seed)
        count = 30_000
        self.words = [
            "".join(self.random.choices(SYLLABLES, k=self.random.randint(2, 4))) for _ in range(count)
        ]
        self.weights = list(accumulate(1 / (rank + 3) for rank in range(count)))

    def text(self, words: int) -> str:
        """Give words of which four in ten are function words, as in English."""
        telling = self.random.choices(self.words, cum_weights=self.weights, k=words)
        return " ".join(
            self.random.choice(FUNCTION_WORDS) if self.random.random() < 0.4 else w for w in telling
        )

    def rows(self, count: int) -> Iterator[Row]:
        """Yield rows in the order of COLUMNS."""
        for n in range(count):
            domain, source_type, verdict = map(self._pick, (DOMAINS, SOURCE_TYPES, VERDICTS))
            source = (
                f"chat-{n // 12:06d}"
                if source_type in ("extracted", "conversation")
                else f"doc-{n // 40:06d}"
            )
            heading = self.text(4) if self.random.random() < 0.4 else None
            moment = f"2026-{n * 9 // count + 1:02d}-15T10:00:00+00:00"
            words = max(8, int(self.random.gauss(WORDS_OF_A_ROW, 20)))
            yield (
                self.text(words),
                domain,
                heading,
                source,
                source_type,
                f"ns-{n % 50}",
                verdict,
                moment,
                moment,
            )

    def questions(self, count: int) -> list[str]:
        """Give questions of 8 to 15 words, as people ask them: common words among telling ones."""
        return [
            f"what is the {self.text(self.random.randint(4, 11))} of our {self.random.choice(self.words[:3000])}"
            for _ in range(count)
        ]

    def _pick(self, options: dict[str, int]) -> str:
        return self.random.choices(list(options), weights=list(options.values()))[0]


COLUMNS = "content, domain, heading, source, source_type, namespace, review_state, created_at, updated_at"
