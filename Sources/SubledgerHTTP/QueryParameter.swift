/// A query parameter.
enum QueryParameter: String, Sendable {
    case at, knownAt, tz, environment, minPosition, product, group, trust, wait, from, to, by,
        currency, consumer, after
}
