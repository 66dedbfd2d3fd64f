extension Int64 {
    /// The sum, clamped to the range of the type.
    func addingWithinRange(_ other: Int64) -> Int64 {
        let (sum, isBeyond) = addingReportingOverflow(other)
        return isBeyond ? (other > 0 ? .max : .min) : sum
    }
}
