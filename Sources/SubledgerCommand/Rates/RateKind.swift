import ArgumentParser

/// What a list of rates contains.
enum RateKind: String, CaseIterable, ExpressibleByArgument {
    /// The operator's exchange rates.
    case currency
    /// Those of Apple's payment for a fiscal month.
    case apple
    /// Rates of commission and tax.
    case proceeds
}
