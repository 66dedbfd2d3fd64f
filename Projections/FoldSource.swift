public import Events

/// The source of all folds, as a number: tables say with it which source made them.
public enum FoldSource {
    /// SHA-256 of the code in `Projections` and `Sources/Events`, comments and layout left out.
    ///
    /// Kept by `make snapshot` and compared by the tests, so that no fold changes unnoticed.
    public static let digest = kept(
        "b53daa002f9e5fc5ddf06925b5cdf6c3df100b42121c8a1c860b48c08d4da529"
    )

    private static func kept(_ hex: String) -> Digest {
        guard let digest = Digest(hex: hex) else {
            preconditionFailure("\(hex) is no SHA-256 in hexadecimal digits")
        }
        return digest
    }
}
