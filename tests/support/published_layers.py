"""Each attention layer's published formula: plain loops over heads, queries and keys, in float64.

Every function takes a layer's weights by name, what asks ``x (m, size)``, what is asked
``memory (n, size)``, which may look at which ``allowed (m, n)`` and the number of heads, and
returns the output ``(m, size)`` and, where a paper has one, the map ``(heads, m, n)``. Those of
the recurrent layers keep a state and have no map.
"""

import numpy as np


def linear(known, name, rows):
    """``rows W^T + b``; no bias where there is none."""
    made = rows @ known[f"{name}.weight"].T
    return made + known[f"{name}.bias"] if f"{name}.bias" in known else made


def sigmoid(x):
    return 1.0 / (1.0 + np.exp(-x))


def silu(x):
    return x * sigmoid(x)


def softmax(scores, allowed):
    """One row: 0 where nothing is allowed."""
    weights = np.zeros(len(scores))
    if any(allowed):
        highest = max(s for s, may in zip(scores, allowed, strict=True) if may)
        for key, may in enumerate(allowed):
            weights[key] = np.exp(scores[key] - highest) if may else 0.0
        weights /= weights.sum()
    return weights


def root_mean_square(vector, eps=1e-5):
    return vector / np.sqrt((vector**2).mean() + eps)


def unit(vector):
    return vector / max(np.sqrt((vector**2).sum()), 1e-12)


def turned(vector, place, base=10_000.0):
    """Neighbouring numbers as points, turned by ``place * base ** (-2 j / d)``."""
    made, size = vector.copy(), len(vector)
    for pair in range(size // 2):
        angle = place * base ** (-2.0 * pair / size)
        x, y = vector[2 * pair], vector[2 * pair + 1]
        made[2 * pair] = x * np.cos(angle) - y * np.sin(angle)
        made[2 * pair + 1] = x * np.sin(angle) + y * np.cos(angle)
    return made


def projected(known, x, memory, heads):
    """Queries, keys and values, each ``(heads, n, d)``, of three matrices that lie in one."""
    size = x.shape[-1]
    asked = linear(known, "projections", x)[:, :size]
    kept = linear(known, "projections", memory)[:, size:]

    def split(rows):
        return rows.reshape(len(rows), heads, -1).transpose(1, 0, 2)

    return split(asked), split(kept[:, :size]), split(kept[:, size:])


def joined(known, found):
    """``W_o`` of what the heads found ``(heads, m, d)``."""
    return linear(known, "output", np.concatenate(list(found), axis=-1))


def softmax_maps(scores, allowed):
    """``(heads, m, n)`` of scores of that shape."""
    return np.array(
        [[softmax(*row) for row in zip(head, allowed, strict=True)] for head in scores]
    )


def products(queries, keys):
    """``q . k / sqrt(d)``, ``(heads, m, n)``."""
    heads, asked, size = queries.shape
    scores = np.zeros((heads, asked, keys.shape[1]))
    for h in range(heads):
        for i in range(asked):
            for j in range(keys.shape[1]):
                scores[h, i, j] = queries[h, i] @ keys[h, j] / np.sqrt(size)
    return scores


def weighted(maps, values):
    """``(heads, m, d)``."""
    found = np.zeros((*maps.shape[:2], values.shape[-1]))
    for h, i, j in np.ndindex(maps.shape):
        found[h, i] += maps[h, i, j] * values[h, j]
    return found


def gated_output(known, x, memory, allowed, heads):
    """Qiu et al. 2025, equation 5: what each head found times a sigmoid of the input."""
    queries, keys, values = projected(known, x, memory, heads)
    maps = softmax_maps(products(queries, keys), allowed)
    found = weighted(maps, values)
    gates = sigmoid(linear(known, "gate", x))  # (m, heads) or (m, size)
    gates = gates.reshape(len(x), heads, -1).transpose(1, 0, 2)
    return joined(known, found * gates), maps


def forgetting(known, x, memory, allowed, heads):
    """Lin et al. 2025, equation 9: scores plus the logarithms of all gates passed on the way."""
    queries, keys, values = projected(known, x, memory, heads)
    scores = products(queries, keys)
    gates = sigmoid(linear(known, "forget", memory))  # (n, heads)
    for h, i, j in np.ndindex(scores.shape):
        for passed in range(j + 1, i + 1):
            scores[h, i, j] += np.log(gates[passed, h])
    maps = softmax_maps(scores, allowed)
    return joined(known, weighted(maps, values)), maps


def differential(known, x, memory, allowed, heads, layer=0):
    """Ye et al. 2025, equations 1 to 3: one softmax minus a share of another."""
    queries, keys, values = projected(known, x, memory, heads)
    half = queries.shape[-1] // 2
    start = 0.8 - 0.6 * np.exp(-0.3 * layer)
    vectors = known["vectors"]  # q1, k1, q2, k2
    share = np.exp(vectors[0] @ vectors[1]) - np.exp(vectors[2] @ vectors[3]) + start
    first = softmax_maps(products(queries[..., :half], keys[..., :half]), allowed)
    second = softmax_maps(products(queries[..., half:], keys[..., half:]), allowed)
    maps = first - share * second
    found = weighted(maps, values)
    for h, i in np.ndindex(found.shape[:2]):
        found[h, i] = (1 - start) * known["norm.weight"] * root_mean_square(found[h, i])
    return joined(known, found), maps


def selective(known, x, memory, allowed, heads):
    """Leviathan et al. 2024, section 3: what earlier words deselected by head 0 counts less."""
    queries, keys, values = projected(known, x, memory, heads)
    scores = products(queries, keys)
    lowered = scores.copy()
    for h, i, j in np.ndindex(scores.shape):
        for earlier in range(i):
            if j not in (0, earlier) and j < earlier:
                lowered[h, i, j] -= max(scores[0, earlier, j], 0.0)
    maps = softmax_maps(lowered, allowed)
    return joined(known, weighted(maps, values)), maps


def multi_token(known, x, memory, allowed, heads):
    """Golovneva et al. 2025, equations 4 to 6: scores convolved over queries and keys, and heads.

    Causal: queries and keys are the same words.
    """
    queries, keys, values = projected(known, x, memory, heads)
    scores = products(queries, keys)
    kernel = known["kernel"]  # (heads, queries before and own, keys around)
    _, reach, width = kernel.shape
    blended = np.zeros_like(scores)
    for h, i, j in np.ndindex(scores.shape):
        for back in range(reach):
            for step in range(width):
                query, key = i - back, j + step - width // 2
                if query >= 0 and 0 <= key <= query and allowed[i][key]:
                    blended[h, i, j] += kernel[h, back, step] * scores[h, query, key]
    alone = softmax_maps(blended, allowed)
    maps = np.zeros_like(alone)
    for h, other in np.ndindex(heads, heads):
        maps[h] += known["mix"][h, other] * alone[other]
    return joined(known, weighted(maps, values)), maps


def latent(known, x, memory, allowed, heads, cross=False):
    """DeepSeek-AI 2024, equations 9 to 19, with queries that are not compressed."""
    made = linear(known, "down", memory)  # latent and the rotary key
    compressed = known["norm.weight"].shape[0]
    kept = np.array([known["norm.weight"] * root_mean_square(row) for row in made[:, :compressed]])
    shared = made[:, compressed:]
    rises = linear(known, "up", kept).reshape(len(memory), heads, -1)
    size = x.shape[-1] // heads
    asked = linear(known, "queries", x).reshape(len(x), heads, -1)
    scores = np.zeros((heads, len(x), len(memory)))
    for h, i, j in np.ndindex(scores.shape):
        scores[h, i, j] = asked[i, h, :size] @ rises[j, h, :size]
        if not cross:
            scores[h, i, j] += turned(asked[i, h, size:], i) @ turned(shared[j], j)
        scores[h, i, j] /= np.sqrt(asked.shape[-1])
    maps = softmax_maps(scores, allowed)
    return joined(known, weighted(maps, rises[..., size:].transpose(1, 0, 2))), maps


def linformer(known, x, memory, allowed, heads):
    """Wang et al. 2020, equation 7: keys and values are first summed up in a few rows.

    The map is that of words: what each row of the sum gets, times what each word gave to it.
    """
    queries, keys, values = projected(known, x, memory, heads)
    sums = known["sums"]  # (rows, longest)
    n = len(memory)
    known_keys = [j for j in range(n) if allowed[0][j]]
    few_keys = np.zeros((heads, len(sums), keys.shape[-1]))
    few_values = np.zeros_like(few_keys)
    for h, r in np.ndindex(few_keys.shape[:2]):
        for j in known_keys:
            few_keys[h, r] += sums[r, j] * keys[h, j]
            few_values[h, r] += sums[r, j] * values[h, j]
    some = np.full((len(x), len(sums)), bool(known_keys))
    few = softmax_maps(products(queries, few_keys), some)
    maps = np.zeros((heads, len(x), n))
    for h, i, j in np.ndindex(maps.shape):
        if j in known_keys:
            maps[h, i, j] = few[h, i] @ sums[:, j]
    return joined(known, weighted(few, few_values)), maps


def sinkhorn(known, x, memory, allowed, heads, rounds):
    """Sander et al. 2022, section 3: rows and columns are divided by their sums in turn."""
    queries, keys, values = projected(known, x, memory, heads)
    scores = products(queries, keys)
    words = [j for j in range(len(memory)) if allowed[0][j]]
    maps = np.zeros_like(scores)
    for h in range(heads):
        kernel = np.exp(scores[h][np.ix_(words, words)])
        for turn in range(2 * rounds + 1):
            kernel = kernel / kernel.sum(axis=(turn + 1) % 2, keepdims=True)
        maps[h][np.ix_(words, words)] = kernel
    return joined(known, weighted(maps, values)), maps


def native_sparse(known, x, memory, allowed, heads, block, chosen, window):
    """Yuan et al. 2025, equations 5 to 12, blocks summed up by their mean and side by side.

    Causal: queries and keys are the same words.
    """
    queries, keys, values = projected(known, x, memory, heads)
    gates = sigmoid(linear(known, "gates", x)).reshape(len(x), heads, 3)
    n = len(memory)
    maps = np.zeros((heads, n, n))
    for h, i in np.ndindex(heads, n):
        q, root = queries[h, i], np.sqrt(queries.shape[-1])
        full = [b for b in range(n // block) if (b + 1) * block <= i + 1]
        of_block = [
            q @ np.mean([keys[h, j] for j in range(b * block, (b + 1) * block)], axis=0) / root
            for b in full
        ]
        compressed = softmax(of_block, [True] * len(full))
        for b, weight in zip(full, compressed, strict=True):
            for j in range(b * block, (b + 1) * block):
                maps[h, i, j] += gates[i, h, 0] * weight / block
        own = i // block
        order = sorted((b for b in full if b != own), key=lambda b: (-compressed[b], b))
        taken = {own, *order[: chosen - 1]}
        products_ = [q @ keys[h, j] / root for j in range(n)]
        selected = softmax(products_, [j <= i and j // block in taken for j in range(n)])
        near = softmax(products_, [i - window < j <= i for j in range(n)])
        maps[h, i] += gates[i, h, 1] * selected + gates[i, h, 2] * near
    return joined(known, weighted(maps, values)), maps


def retention(known, x, memory, allowed, heads):
    """Sun et al. 2023, equations 5, 6 and 8: ``S_n = g S_(n-1) + k_n v_n^T``, ``q_n S_n``."""
    queries, keys, values = projected(known, x, memory, heads)
    size = queries.shape[-1]
    found = np.zeros_like(values)
    for h in range(heads):
        decay = 1 - 2.0 ** (-5 - h)
        state = np.zeros((size, size))
        for i in range(len(x)):
            state = decay * state
            if allowed[-1][i]:
                state += np.outer(turned(keys[h, i], i), values[h, i])
            found[h, i] = turned(queries[h, i], i) @ state / np.sqrt(size)
    gates = silu(linear(known, "gate", x)).reshape(len(x), heads, -1).transpose(1, 0, 2)
    for h, i in np.ndindex(found.shape[:2]):
        found[h, i] = gates[h, i] * known["norm.weight"] * root_mean_square(found[h, i])
    return joined(known, found)


def delta_rule(known, x, memory, allowed, heads):
    """Yang et al. 2024, equation 2: each key's old value is replaced by a share of the new.

    ``S_n = S_(n-1) + b_n k_n (v_n - S_(n-1)^T k_n)^T``.
    """
    queries, keys, values = projected(known, x, memory, heads)
    size = queries.shape[-1]
    rates = sigmoid(linear(known, "replace", memory))  # (n, heads)
    found = np.zeros_like(values)
    for h in range(heads):
        state = np.zeros((size, size))
        for i in range(len(x)):
            key = unit(silu(keys[h, i]))
            if allowed[-1][i]:
                state = state + rates[i, h] * np.outer(key, values[h, i] - state.T @ key)
            found[h, i] = unit(silu(queries[h, i])) @ state / np.sqrt(size)
    for h, i in np.ndindex(found.shape[:2]):
        found[h, i] = known["norm.weight"] * root_mean_square(found[h, i])
    return joined(known, found)


def gated_linear(known, x, memory, allowed, heads, temperature=16.0):
    """Yang et al. 2024, equations 3 and 4: ``S_n = diag(a_n) S_(n-1) + k_n v_n^T``."""
    queries, keys, values = projected(known, x, memory, heads)
    size = queries.shape[-1]
    keeps = linear(known, "keep.1", linear(known, "keep.0", memory))
    keeps = (sigmoid(keeps) ** (1.0 / temperature)).reshape(len(memory), heads, size)
    found = np.zeros_like(values)
    for h in range(heads):
        state = np.zeros((size, size))
        for i in range(len(x)):
            state = keeps[i, h][:, None] * state
            if allowed[-1][i]:
                state += np.outer(keys[h, i], values[h, i])
            found[h, i] = queries[h, i] @ state / np.sqrt(size)
    gates = silu(linear(known, "gate", x)).reshape(len(x), heads, -1).transpose(1, 0, 2)
    for h, i in np.ndindex(found.shape[:2]):
        found[h, i] = gates[h, i] * known["norm.weight"] * root_mean_square(found[h, i])
    return joined(known, found)
