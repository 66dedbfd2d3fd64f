public import Events

/// The source of all folds, as a number: tables say with it which source made them.
public enum FoldSource {
    /// SHA-256 of the code in `Projections` and `Sources/Events`, comments and layout left out.
    ///
    /// Kept by `make snapshot` and compared by the tests, so that no fold changes unnoticed.
    public static let digest = kept(
        "04b183b3698d30026d56d8630efaf23cad0508651a6198fa975ce20b4090e8bb"
    )

    private static func kept(_ hex: String) -> Digest {
        guard let digest = Digest(hex: hex) else {
            preconditionFailure("\(hex) is no SHA-256 in hexadecimal digits")
        }
        return digest
    }
}
