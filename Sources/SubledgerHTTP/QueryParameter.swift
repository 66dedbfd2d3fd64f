/// A query parameter, or an argument of an agent's tool.
enum QueryParameter: String, Sendable {
    case at, knownAt, tz, environment, minPosition, product, group, trust, wait, from, to, by,
        currency, consumer, after

    // Of tools: routes have these in their paths, or not at all.
    case id, name, alone, limit
}
