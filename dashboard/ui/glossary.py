"""A button that every page has: what the words of the field mean."""

from __future__ import annotations

import streamlit as st

from dashboard.language import gettext, gettext_noop
from dashboard.ui import navigation

# By term, in Markdown and in English; a term stands where its letter puts it.
TERMS = {
    gettext_noop("ablation"): gettext_noop(
        "Taking a part of a model away to see what it was needed for."
    ),
    gettext_noop("ablation effect"): gettext_noop(
        "The change of a translation's log-probability, in nats, when a head is switched off; "
        "negative where the head was needed."
    ),
    gettext_noop("additive scoring"): gettext_noop(
        "A scoring function that sends the sum of a projected query and a projected key "
        "through tanh and a vector: $w_v^\\top\\tanh(W_q q + W_k k)$."
    ),
    gettext_noop("alignment"): gettext_noop(
        "Which words of a sentence belong to which words of its translation."
    ),
    gettext_noop("attention pooling"): gettext_noop(
        "The mean of all values, each counted by its weight."
    ),
    gettext_noop("average pooling"): gettext_noop(
        "Pooling with equal weights, so that the query does not matter."
    ),
    gettext_noop("beam"): gettext_noop(
        "How many partial translations a search follows: at each step it keeps the most probable "
        "ones; a beam of 1 is greedy search."
    ),
    gettext_noop("BLEU"): gettext_noop(
        "A score from 0 to 100: how many runs of one to four words a translation shares with a "
        "reference; short translations lose points."
    ),
    gettext_noop("causal mask"): gettext_noop(
        "A mask that hides from each position all that come after it."
    ),
    gettext_noop("checkpoint"): gettext_noop(
        "A trained model as it is stored: its weights, and a card that says how it was trained."
    ),
    gettext_noop("context"): gettext_noop(
        "The vector that attention hands to the decoder at one step."
    ),
    gettext_noop("copied"): gettext_noop(
        "What the translation of the nearest training sentence would score in place of the "
        "model's."
    ),
    gettext_noop("cross-attention"): gettext_noop(
        "Attention whose queries come from one sequence, its keys and values from another."
    ),
    gettext_noop("decoder"): gettext_noop(
        "The part of a model that writes, one token after the other."
    ),
    gettext_noop("effective neighbours"): gettext_noop(
        "How many keys a query rests on: 1 where one has all the weight, all of them where "
        "their weights are equal."
    ),
    gettext_noop("encoder"): gettext_noop(
        "The part of a model that reads, and makes a vector of every token."
    ),
    gettext_noop("entropy"): gettext_noop(
        "How evenly weights are spread: 0 where one key has all, largest where all are equal."
    ),
    gettext_noop("epoch"): gettext_noop("One pass of training over all of its examples."),
    gettext_noop("faithful"): gettext_noop(
        "Said of an explanation that names what the model really uses."
    ),
    gettext_noop("far"): gettext_noop(
        "Said of a held-out sentence that differs from every training sentence by more than "
        "one word."
    ),
    gettext_noop("head"): gettext_noop(
        "One of several attentions side by side, with projections of its own."
    ),
    gettext_noop("held out"): gettext_noop(
        "Said of data that no training step learns from, so that a score on it is one on new data."
    ),
    gettext_noop("kernel"): gettext_noop(
        "A function that says how near two points are, and falls with their distance."
    ),
    gettext_noop("key"): gettext_noop(
        "What a query is compared with; there is one for each value."
    ),
    gettext_noop("layer normalisation"): gettext_noop(
        "Shifts and scales each token's numbers to mean 0 and variance 1."
    ),
    gettext_noop("log-probability"): gettext_noop(
        "The logarithm of a probability: 0 is certain, and the lower it is, the less a model "
        "expects a translation."
    ),
    gettext_noop("mask"): gettext_noop("Says which keys a query may see."),
    gettext_noop("masked softmax"): gettext_noop(
        "A softmax over the keys that the mask allows; all others get exactly 0."
    ),
    gettext_noop("multi-head attention"): gettext_noop(
        "Heads that attend side by side, joined and projected."
    ),
    gettext_noop("nats"): gettext_noop(
        "The unit of natural logarithms, such as losses and log-probabilities: one nat more is "
        "a factor of $e$, about 2.7."
    ),
    gettext_noop("near"): gettext_noop(
        "Said of a held-out sentence that differs by one word (inserted, deleted or replaced) "
        "from a training sentence."
    ),
    gettext_noop("normaliser"): gettext_noop("What makes weights of scores; mostly the softmax."),
    gettext_noop("padding"): gettext_noop(
        "What fills short sentences of a batch up to the length of the longest."
    ),
    gettext_noop("positional encoding"): gettext_noop(
        "Numbers added to each token that tell its place."
    ),
    gettext_noop("query"): gettext_noop(
        "What is looked for: a vector that is compared with every key."
    ),
    gettext_noop("relative position"): gettext_noop(
        "How far a key is from a query, whatever the place of both."
    ),
    gettext_noop("residual connection"): gettext_noop(
        "Adds what goes into a layer to what comes out of it."
    ),
    gettext_noop("scaled dot product"): gettext_noop(
        "The dot product of query and key over the root of their size: $q^\\top k/\\sqrt d$."
    ),
    gettext_noop("scoring function"): gettext_noop(
        "$a(q, k)$: how well a key suits a query, as one number, the score."
    ),
    gettext_noop("self-attention"): gettext_noop("Attention of a sequence to itself."),
    gettext_noop("softmax"): gettext_noop(
        "Makes positive numbers that sum to 1 of any scores: $e^{s_i}/\\sum_j e^{s_j}$."
    ),
    gettext_noop("sparsemax"): gettext_noop(
        "A normaliser that gives low scores a weight of exactly 0."
    ),
    gettext_noop("token"): gettext_noop(
        "A word, a sign or a part of a word, as a model reads it."
    ),
    gettext_noop("Transformer"): gettext_noop(
        "A model made of attention and small networks, without recurrence."
    ),
    gettext_noop("valid length"): gettext_noop("How many tokens of a padded sentence are real."),
    gettext_noop("value"): gettext_noop(
        "What a key gives to the output, as far as its weight allows."
    ),
    gettext_noop("weight"): gettext_noop(
        "How much of a value enters the output; the weights of a query sum to 1."
    ),
    gettext_noop("width"): gettext_noop(
        "The distance, $\\sigma$, at which a kernel has fallen off markedly."
    ),
}


_HEIGHT = 380  # px, of the list
_LESSONS = "lessons"


def glossary_button() -> None:
    """A popover with all terms; its content is sent only while it is open."""
    opened = st.popover(
        gettext("Glossary"), icon=":material/menu_book:", type="tertiary", key="glossary",
        on_change="rerun",
    )  # fmt: skip
    if not opened.open:
        return
    with opened:
        sought = st.text_input(
            gettext("Find a term"), key="glossary-sought", max_chars=40,
            placeholder=gettext("such as query"),
        )  # fmt: skip
        found = [term for term in TERMS if _has(term, _letters(sought.strip()))]
        with st.container(height=_HEIGHT, border=False):
            if found:
                st.markdown("\n\n".join(defined(term) for term in found))
            else:
                st.caption(gettext("No term has these letters. Try fewer of them."))
        navigation.link_to(
            _LESSONS, {}, gettext("Lessons explain most of them one after the other")
        )


def defined(term: str) -> str:
    """A term and its meaning, in Markdown; in another language with the English term."""
    called, meaning = gettext(term), gettext(TERMS[term])
    if called == term:
        return gettext("**{term}**: {meaning}", term=term, meaning=meaning)
    return gettext("**{term}** ({english}): {meaning}", term=called, english=term, meaning=meaning)


def _has(term: str, letters: str) -> bool:
    return letters in _letters(term) or letters in gettext(term)


def _letters(term: str) -> str:
    """In small letters and without hyphens, since a page says *held out* and *held-out*."""
    return term.lower().replace("-", " ")
