/// A number with the noun it counts: `1 payload`, `2 payloads`.
func counted(_ count: some BinaryInteger, _ noun: String) -> String {
    "\(count) \(noun)" + (count == 1 ? "" : "s")
}
