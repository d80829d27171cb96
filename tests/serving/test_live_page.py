"""The live page, used by people who have never seen it: in a real Chromium, where there is one."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from fake_service import ADA, MARA, Knowing
from live_page import chromium, expect, opened, served
from test_service_asking import plain

from factloom.document import Document, Entity, Mention, Relation, Sentence
from factloom.graph.exports import write_graph

PHONE = {"width": 375, "height": 700}
HOSTILE = "Ada Lovelace was born in <img src=x onerror=alert(1)> London 😀 & Torvik."
__all__ = ["plain"]  # a fixture


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    with chromium() as found:
        yield found


@pytest.fixture(scope="module")
def without_store() -> Iterator[str]:
    with served() as address:
        yield address


@pytest.mark.usefixtures("plain")
def test_a_newcomer_reads_evidence_rejects_undoes_and_asks(browser: Any, tmp_path: Path) -> None:
    with served(tmp_path / "store") as address, opened(browser, address) as live:
        page = live.page
        live.read(ADA, "ada")
        expect(page.locator("#reading-status")).to_have_text("ada: 2 entities, 1 relations.")
        # the evidence
        page.click("#found .rows button")
        expect(page.locator("#document-text .evidence")).to_have_text(
            "Ada Lovelace was born in London."
        )
        expect(page.locator(".card h3")).to_contain_text("place of birth")
        expect(page.locator(".card blockquote")).to_contain_text("Ada Lovelace was born in London.")
        # a word against it, and back
        page.click(".card button:text-is('Reject')")
        page.wait_for_selector("#said button:focus")
        expect(page.locator(".card")).to_contain_text("rejected")
        page.keyboard.press("Enter")  # on "Undo", which has the focus
        page.wait_for_selector("#said:has-text('Taken back')")
        expect(page.locator(".card")).not_to_contain_text("rejected")
        # a question
        page.click("#tab-ask")
        page.fill("#question", "Where was Ada Lovelace born?")
        page.keyboard.press("Enter")
        expect(page.locator(".answer-text")).to_have_text("London")
        page.click(".answer .link")
        page.wait_for_selector("#document-text .evidence")


def test_facts_are_corrected_and_things_merged_on_the_spot(browser: Any, tmp_path: Path) -> None:
    with served(tmp_path / "store") as address, opened(browser, address) as live:
        page = live.page
        live.read("Ada Lovelace and Mara Velden were born in London, not Torvik.", "both")
        page.click("#found .rows button")
        page.click(".card button:text-is('Accept')")
        page.wait_for_selector("#said:has-text('Accepted')")
        page.click(".card button:text-is('Correct…')")
        page.fill(".card [name=tail]", "Torvik")
        page.keyboard.press("Enter")
        page.wait_for_selector("#said:has-text('Corrected')")
        page.click("#found .rows button:has-text('Torvik')")
        expect(page.locator(".card")).to_contain_text("corrected")
        # one person by two names
        page.click("#document-text mark >> text=Ada Lovelace")
        page.click("#found .about button:text-is('Merge with…')")
        page.fill("#found .about input", "mara")
        page.click("#found .about .rows button")
        page.keyboard.press("Enter")  # it is said in words first
        page.wait_for_selector("#said:has-text('Merged')")
        # all of it stands in the list, and can be taken back there
        page.click("#tab-store")
        page.wait_for_selector("#correction-list li >> nth=2")
        page.click("#correction-list button >> nth=0")
        page.wait_for_selector("#said:has-text('Taken back')")
        expect(page.locator("#correction-list li")).to_have_count(2)


def test_several_hops_to_an_answer_are_drawn_as_a_way(browser: Any, tmp_path: Path) -> None:
    proof = {"document": "ada", "sentence": ADA, "start": 0, "end": 3}
    facts = [
        {"head": head, "relation": "P1", "name": name, "tail": tail, "score": 0.8}
        for head, name, tail in (("Ada", "born in", "London"), ("London", "country", "England"))
    ]
    answer = {
        "kind": "path",
        "text": "England",
        "score": 0.64,
        "evidence": [proof],
        "facts": [{**fact, "evidence": [proof]} for fact in facts],
        "items": [],
        "hops": 2,
        "explanation": "Ada — born in → London — country → England",
        "supported": True,
    }
    with served(tmp_path / "store") as address, opened(browser, address) as live:
        page = live.page
        page.route("**/v1/ask", lambda route: route.fulfill(json={"answers": [answer]}))
        page.click("#tab-ask")
        page.fill("#question", "In which country was Ada born?")
        page.click("#ask-it")
        drawn = page.get_by_role("img", name=f"The way to the answer: {answer['explanation']}")
        expect(drawn).to_be_visible()
        expect(page.locator(".answer .card")).to_have_count(2)


def test_the_page_that_is_a_file_draws_its_graph_and_lights_evidence(
    browser: Any, tmp_path: Path
) -> None:
    document = Knowing()._read(Document(ADA, id="ada", sentences=(Sentence(0, 32),)))
    write_graph([document], tmp_path / "ada.html", relation_names=Knowing.relation_names)
    with opened(browser, (tmp_path / "ada.html").as_uri()) as live:
        live.page.click("#relation-list button")
        assert live.page.inner_text("#text .evidence") == "Ada Lovelace was born in London."
        canvas = live.page.get_by_role("img", name="The graph.").bounding_box()
        assert canvas is not None
        assert min(canvas["width"], canvas["height"]) > 100


def test_the_store_is_searched_drawn_and_walked(browser: Any, tmp_path: Path) -> None:
    with served(tmp_path / "store") as address, opened(browser, address) as live:
        page = live.page
        for name, text in (("ada", ADA), ("mara", "Mara Velden was born in London.")):
            live.read(text, name)
            page.wait_for_selector(f"#document-name:text-is('{name}')")
        page.click("#tab-store")
        page.fill("#browser input", "ada")
        page.click("#browser .rows button:has-text('Ada Lovelace')")
        page.wait_for_selector("#browser .about:has-text('Ada Lovelace')")
        expect(page.locator("#browser .told > .rows button")).to_have_count(1)
        page.click("#browser .about button:text-is('Path to…')")
        page.fill("#browser .about input", "mara")
        page.click("#browser .about .rows button")
        page.wait_for_selector("#browser p:text-is('2 facts about 3 things.')")
        page.click("#browser button:text-is('Draw all')")
        page.wait_for_selector("#browser p:text-is('2 facts about 3 things.')")
        # a fact of the store leads to its document
        page.click("#browser .told > .rows button:has-text('Mara')")
        page.click("#browser .card .link")
        page.wait_for_selector("#document-name:text-is('mara')")


class Reasoning(Knowing):
    """Adds that whoever was born in London is of Torvik's country, for a reason."""

    relation_names = {"P19": "place of birth", "P17": "country", "P27": "citizen"}  # noqa: RUF012

    def _read(self, document: Document) -> Document:
        spans = (0, 3), (4, 7), (8, 11)
        bridge = {"entity": 1, "pattern": 1, "weight": 0.6}
        premises = [[0, "P19", 1], [1, "P17", 2]]
        because = {"bridges": [{**bridge, "premises": premises}]}
        return document.replace(
            mentions=tuple(Mention(*span, "PER") for span in spans),
            entities=tuple(Entity((number,), "PER") for number in range(3)),
            relations=(
                Relation(0, 1, "P19", score=0.9, evidence=(0,)),
                Relation(1, 2, "P17", score=0.8, evidence=(0,)),
                Relation(0, 2, "P27", score=0.3, evidence=(0,), provenance=because),
            ),
        )


def test_a_fact_shows_what_it_follows_from_and_filters_choose_among_facts(browser: Any) -> None:
    with served(model=Reasoning()) as address, opened(browser, address) as live:
        page = live.page
        live.read("Ada Bel Cyr.")
        page.click("#found .rows button:has-text('citizen')")
        words = " ".join(page.inner_text(".card .reason").split())
        first, second = "Ada — place of birth → Bel", "Bel — country → Cyr"
        assert words == f"It follows from {first} and {second}"
        page.fill("#found [type=range]", "0.5")
        expect(page.locator("#found .rows button")).to_have_count(2)
        page.select_option("#found select", "country")
        expect(page.locator("#found .rows button")).to_have_count(1)


def test_text_stays_text_and_mentions_stand_behind_an_emoji(
    browser: Any, without_store: str
) -> None:
    with opened(browser, without_store) as live:
        live.read(HOSTILE)
        assert live.page.inner_text("#document-text") == HOSTILE
        expect(live.page.locator("#document-text img")).to_have_count(0)
        names = live.page.locator("#document-text mark").all_inner_texts()
        assert names == ["Ada Lovelace", "London", "Torvik"]


def test_without_a_store_files_of_text_are_read_and_others_are_refused_in_words(
    browser: Any, without_store: str
) -> None:
    with opened(browser, without_store) as live:
        page = live.page
        expect(page.locator("#tab-ask")).to_be_hidden()
        mara = {"name": "mara.txt", "mimeType": "text/plain", "buffer": MARA.encode()}
        page.set_input_files("#files", [mara])
        page.wait_for_selector("#document-name:text-is('mara.txt')")
        page.set_input_files("#files", [{**mara, "name": "mara.pdf"}])
        page.wait_for_selector("#problem:has-text('mara.pdf')")


def test_the_page_fits_a_phone_and_is_dark_where_that_is_wanted(
    browser: Any, without_store: str
) -> None:
    with opened(browser, without_store, viewport=PHONE, color_scheme="dark") as live:
        live.read(ADA)
        live.page.click("#found .rows button")
        widths = "[document.documentElement.scrollWidth, innerWidth]"
        wide, shown = live.page.evaluate(widths)
        assert wide <= shown
        style = "getComputedStyle(document.body)"
        ground, ink = live.page.evaluate(f"[{style}.backgroundColor, {style}.color]")
        assert (ground, ink) == ("rgb(21, 24, 28)", "rgb(230, 233, 238)")


def test_the_page_speaks_the_language_of_the_browser_and_can_be_switched(
    browser: Any, without_store: str
) -> None:
    with opened(browser, without_store, locale="zh-CN") as live:
        page = live.page
        page.wait_for_selector("#read-it:text-is('阅读文本')")
        live.read(ADA)
        expect(page.locator("#found .rows")).to_contain_text(
            "place of birth"
        )  # as the documents have it
        page.click("#found .rows button")
        expect(page.locator(".card")).to_contain_text("分数 0.80")
        page.click("#language")
        expect(page.locator(".card")).to_contain_text("score 0.80")
        expect(page.locator("#read-it")).to_have_text("Read the text")


def test_the_page_is_used_by_keys_alone(browser: Any, tmp_path: Path) -> None:
    with served(tmp_path / "store") as address, opened(browser, address) as live:
        page = live.page
        page.wait_for_selector("#tab-store:visible")
        page.focus("#tab-read")
        for expected in ("tab-ask", "tab-store", "tab-read"):
            page.keyboard.press("ArrowRight")
            assert page.evaluate("document.activeElement.id") == expected
        page.focus("#reading-text")
        page.keyboard.type(ADA)
        page.keyboard.press("Control+Enter")
        page.wait_for_selector("#found .rows button")
        page.focus("#document-text mark")
        expect(page.locator("#document-text mark.lit")).to_have_count(1)
        page.keyboard.press("Enter")
        expect(page.locator("#found .about")).to_contain_text("Ada Lovelace")
        page.focus("#found .rows button")
        page.keyboard.press("Enter")
        expect(page.locator(".card")).to_have_count(1)
        page.keyboard.press("Escape")
        expect(page.locator(".card")).to_have_count(0)
        names = page.evaluate(
            "[...document.querySelectorAll('button, input, select, textarea')]"
            ".filter((each) => each.checkVisibility())"
            ".filter((each) => !(each.labels?.length || each.innerText || each.ariaLabel)).length"
        )
        assert names == 0


def test_a_token_is_asked_for_and_kept_in_memory_alone(browser: Any, tmp_path: Path) -> None:
    with served(tmp_path / "store", token="opal") as address, opened(browser, address) as live:
        page = live.page
        page.fill("#reading-text", ADA)
        page.click("#read-it")
        page.fill("#token", "wrong")
        page.keyboard.press("Enter")
        page.wait_for_selector("#token:visible")
        page.fill("#token", "opal")
        page.keyboard.press("Enter")
        page.wait_for_selector("#found .rows button")
        kept = "JSON.stringify([{ ...localStorage }, { ...sessionStorage }, document.cookie])"
        assert page.evaluate(kept) == '[{},{},""]'
        page.reload()
        page.click("#tab-store")
        page.wait_for_selector("#token:visible")
        page.click("#token-cancel")
        page.wait_for_selector("#problem:visible")
