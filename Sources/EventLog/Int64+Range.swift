extension Int64 {
    /// The sum, or the number nearest to it that there is.
    func addingWithinRange(_ other: Int64) -> Int64 {
        let (sum, isBeyond) = addingReportingOverflow(other)
        return isBeyond ? (other > 0 ? .max : .min) : sum
    }
}
