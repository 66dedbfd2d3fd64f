extension Customer {
    /// App account tokens of the customer's other subscriptions, if this one has none of them:
    /// these are two accounts of the app that Apple's account joins.
    ///
    /// Empty for a subscription without a token, and if a link decides: Apple's statements join,
    /// and only a link overrides them.
    package func otherTokens(than stream: CustomerStream) -> [String] {
        guard stream.claims.linkedCustomer == nil, !stream.tokens.isEmpty else { return [] }
        let own = Set(stream.tokens.map(TokenValue.init))
        let others = streams.filter { other in
            other.stream != stream.stream && other.claims.linkedCustomer == nil
                && own.isDisjoint(with: other.tokens.map(TokenValue.init))
        }
        return TokenValue.unique(others.flatMap(\.tokens))
    }
}
