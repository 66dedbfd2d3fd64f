public import Events

/// The source of all folds, as a number: tables say with it which source made them.
public enum FoldSource {
    /// SHA-256 of the code in `Projections` and `Sources/Events`, comments and layout left out.
    ///
    /// Kept by `make snapshot` and compared by the tests, so that no fold changes unnoticed.
    public static let digest = kept(
        "9dc1aa82d8d556c602e94c38131311a2b4ad9c1e9e197afadd56e10cf7b659c7"
    )

    private static func kept(_ hex: String) -> Digest {
        guard let digest = Digest(hex: hex) else {
            preconditionFailure("\(hex) is no SHA-256 in hexadecimal digits")
        }
        return digest
    }
}
