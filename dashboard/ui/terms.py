"""The words of the field as lessons and the glossary explain them, each in a sentence."""

from __future__ import annotations

# By term, in Markdown; a term stands where its letter puts it.
TERMS = {
    "ablation": "Taking a part of a model away to see what it was needed for.",
    "ablation effect": "The change of a translation's log-probability, in nats, when a head is "
    "switched off; negative where the head was needed.",
    "additive scoring": "A scoring function that sends the sum of a projected query and a "
    "projected key through tanh and a vector: $w_v^\\top\\tanh(W_q q + W_k k)$.",
    "alignment": "Which words of a sentence belong to which words of its translation.",
    "attention pooling": "The mean of all values, each counted by its weight.",
    "average pooling": "Pooling with equal weights, so that the query does not matter.",
    "causal mask": "A mask that hides from each position all that come after it.",
    "context": "The vector that attention hands to the decoder at one step.",
    "cross-attention": "Attention whose queries come from one sequence, its keys and values from "
    "another.",
    "decoder": "The part of a model that writes, one token after the other.",
    "effective neighbours": "How many keys a query rests on: 1 where one has all the weight, all "
    "of them where their weights are equal.",
    "encoder": "The part of a model that reads, and makes a vector of every token.",
    "entropy": "How evenly weights are spread: 0 where one key has all, largest where all are "
    "equal.",
    "faithful": "Said of an explanation that names what the model really uses.",
    "head": "One of several attentions side by side, with projections of its own.",
    "kernel": "A function that says how near two points are, and falls with their distance.",
    "key": "What a query is compared with; there is one for each value.",
    "layer normalisation": "Shifts and scales each token's numbers to mean 0 and variance 1.",
    "mask": "Says which keys a query may see.",
    "masked softmax": "A softmax over the keys that the mask allows; all others get exactly 0.",
    "multi-head attention": "Heads that attend side by side, joined and projected.",
    "normaliser": "What makes weights of scores; mostly the softmax.",
    "padding": "What fills short sentences of a batch up to the length of the longest.",
    "positional encoding": "Numbers added to each token that tell its place.",
    "query": "What is looked for: a vector that is compared with every key.",
    "relative position": "How far a key is from a query, whatever the place of both.",
    "residual connection": "Adds what goes into a layer to what comes out of it.",
    "scaled dot product": "The dot product of query and key over the root of their size: "
    "$q^\\top k/\\sqrt d$.",
    "scoring function": "$a(q, k)$: how well a key suits a query, as one number, the score.",
    "self-attention": "Attention of a sequence to itself.",
    "softmax": "Makes positive numbers that sum to 1 of any scores: $e^{s_i}/\\sum_j e^{s_j}$.",
    "sparsemax": "A normaliser that gives low scores a weight of exactly 0.",
    "token": "A word, a sign or a part of a word, as a model reads it.",
    "Transformer": "A model made of attention and small networks, without recurrence.",
    "valid length": "How many tokens of a padded sentence are real.",
    "value": "What a key gives to the output, as far as its weight allows.",
    "weight": "How much of a value enters the output; the weights of a query sum to 1.",
    "width": "The distance, $\\sigma$, at which a kernel has fallen off markedly.",
}
