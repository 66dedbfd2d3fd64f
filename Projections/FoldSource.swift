public import Events

/// The source of all folds, as a number: tables say with it which source made them.
public enum FoldSource {
    /// SHA-256 of the code in `Projections` and `Sources/Events`, comments and layout left out.
    ///
    /// Kept by `make snapshot` and compared by the tests, so that no fold changes unnoticed.
    public static let digest = kept(
        "6566d87809aba46809da97c4d2b9502f69a8aff554f30f7ae50ec359e8524d23"
    )

    private static func kept(_ hex: String) -> Digest {
        guard let digest = Digest(hex: hex) else {
            preconditionFailure("\(hex) is no SHA-256 in hexadecimal digits")
        }
        return digest
    }
}
