extension String {
    /// SQL of a resource, in which each name in double braces stands for a text.
    package init(sql resource: [UInt8], filling gaps: KeyValuePairs<String, String> = [:]) {
        self = gaps.reduce(String(decoding: resource, as: UTF8.self)) { sql, gap in
            sql.replacing("{{\(gap.key)}}", with: gap.value)
        }
    }
}
