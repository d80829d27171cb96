"""The sentences of the bridge documents: four ways in which two facts make a third.

Each `Chain` is one reasoning pattern. Its two premises are said in words; what follows from them
never is. `{head}`, `{bridge}` and `{tail}` name the entities, the other words are filled in as
in the example profiles. A decoy brings the same two entities together and says nothing from
which anything follows.
"""

from dataclasses import dataclass

from profile_sentences import Template


@dataclass(frozen=True)
class Premise:
    """Ways to say a fact, and ways to bring its two entities together without saying it."""

    told: tuple[Template, ...]
    decoys: tuple[Template, ...]


@dataclass(frozen=True)
class Chain:
    """A reasoning pattern: two premises, and what follows from them."""

    pattern: int
    kinds: tuple[str, str, str]  # of head, bridge and tail
    derived: str  # the relation from head to tail
    first: Premise  # about head and bridge
    second: Premise  # about bridge and tail


def _told(fact: tuple[str, str, str], *texts: str) -> tuple[Template, ...]:
    return tuple(Template(text, (fact,)) for text in texts)


def _decoys(*texts: str) -> tuple[Template, ...]:
    return tuple(Template(text) for text in texts)


CHAINS = (
    Chain(
        pattern=1,
        kinds=("person", "town", "country"),
        derived="taxed by",
        first=Premise(
            told=_told(
                ("head", "works in", "bridge"),
                "{head} works as a {job} in {bridge}.",
                "For {number} years {head} has been working in {bridge}.",
                "In {bridge} one finds the workshop of {head}, a {job}.",
                "{head} goes to work in {bridge} every morning.",
                "The {job} {head} has a job in {bridge}.",
            ),
            decoys=_decoys(
                "{head} once spent a summer in {bridge}.",
                "In {bridge} a street is named after {head}.",
                "{head} wrote {number} letters about {bridge}.",
                "An aunt of {head} is buried in {bridge}.",
            ),
        ),
        second=Premise(
            told=_told(
                ("bridge", "lies in", "tail"),
                "{bridge} lies in {tail}.",
                "{bridge} is a town in {tail}.",
                "Among the towns of {tail} is {bridge}.",
                "In the north of {tail} lies {bridge}.",
                "{tail} counts {bridge} among its towns.",
            ),
            decoys=_decoys(
                "{bridge} sells {goods} to {tail}.",
                "A train to {tail} leaves {bridge} every night.",
                "The people of {bridge} often speak of {tail}.",
                "{tail} once fought a war over {bridge} and lost it.",
            ),
        ),
    ),
    Chain(
        pattern=2,
        kinds=("person", "product", "company"),
        derived="customer of",
        first=Premise(
            told=_told(
                ("head", "owns", "bridge"),
                "{head} owns the {bridge}.",
                "The owner of the {bridge} is {head}, a {job}.",
                "{head} has owned the {bridge} for {number} years.",
                "The {bridge} belongs to {head}.",
                "The {bridge} is the property of {head}.",
            ),
            decoys=_decoys(
                "{head} painted the {bridge} {number} times.",
                "The {job} {head} dreams of the {bridge}.",
                "The {bridge} nearly ran into the boat of {head}.",
                "{head} was once a passenger on the {bridge}.",
            ),
        ),
        second=Premise(
            told=_told(
                ("tail", "built", "bridge"),
                "{tail} built the {bridge}.",
                "The {bridge} was built by {tail}.",
                "The builders of the {bridge} were {tail}.",
                "The {bridge} comes from the yard of {tail}.",
                "It took {tail} {number} months to build the {bridge}.",
            ),
            decoys=_decoys(
                "{tail} insures the {bridge}.",
                "The {bridge} once carried {goods} for {tail}.",
                "{tail} shows a picture of the {bridge} in its hall.",
                "The {bridge} sank a barge of {tail}.",
            ),
        ),
    ),
    Chain(
        pattern=3,
        kinds=("person", "school", "company"),
        derived="bound to",
        first=Premise(
            told=_told(
                ("bridge", "trained", "head"),
                "{bridge} trained {head} in {subject}.",
                "{head} was trained in {subject} at {bridge}.",
                "{bridge} counts {head} among its graduates.",
                "{head} holds a degree in {subject} from {bridge}.",
                "At {bridge} the teachers made a {job} of {head}.",
            ),
            decoys=_decoys(
                "{bridge} turned {head} away.",
                "{head} gave a talk on {subject} at {bridge}.",
                "{head} left {number} books to {bridge}.",
                "In {bridge} hangs a portrait of {head}.",
            ),
        ),
        second=Premise(
            told=_told(
                ("tail", "runs", "bridge"),
                "{tail} runs {bridge}.",
                "{bridge} is run by {tail}.",
                "{bridge} has been in the hands of {tail} for {number} years.",
                "The management of {bridge} lies with {tail}.",
                "It is {tail} that keeps {bridge} going.",
            ),
            decoys=_decoys(
                "{tail} sold {goods} to {bridge}.",
                "{bridge} stands across the road from {tail}.",
                "{tail} lost a lawsuit against {bridge}.",
                "{bridge} published a study about {tail}.",
            ),
        ),
    ),
    Chain(
        pattern=4,
        kinds=("company", "person", "town"),
        derived="rooted in",
        first=Premise(
            told=_told(
                ("bridge", "founded", "head"),
                "{bridge} founded {head}.",
                "{head} was founded by {bridge}, a {job}.",
                "The founder of {head} is {bridge}.",
                "{bridge} set up {head} {number} years ago.",
                "{head}, a maker of {goods}, goes back to {bridge}, its founder.",
            ),
            decoys=_decoys(
                "{bridge} buys {goods} from {head}.",
                "{head} once took {bridge} to court.",
                "{bridge} holds {number} shares in {head}.",
                "The {job} {bridge} wrote a history of {head}.",
            ),
        ),
        second=Premise(
            told=_told(
                ("bridge", "born in", "tail"),
                "{bridge} was born in {tail}.",
                "{tail} is the birthplace of {bridge}.",
                "It was in {tail} that {bridge} came into the world.",
                "The {job} {bridge} is a native of {tail}.",
                "{bridge} was born in a small house in {tail}.",
            ),
            decoys=_decoys(
                "{bridge} passed through {tail} once.",
                "{tail} refused to give a prize to {bridge}.",
                "The {job} {bridge} collects maps of {tail}.",
                "{bridge} missed the last train to {tail}.",
            ),
        ),
    ),
)
