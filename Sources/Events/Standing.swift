/// How much a refused payload shows of its origin: anyone can send one.
///
/// The classes are kept apart, so that what shows less never takes the room of what shows more.
public enum Standing: String, CaseIterable, Sendable {
    /// Signed under a pinned root, or sent by the operator or with a token.
    case proven
    /// With a certificate chain that ends at a pinned root, but not signed by it; whoever has seen
    /// one payload of Apple's can copy its chain.
    case chained
    /// Neither.
    case unproven
}
