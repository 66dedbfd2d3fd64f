import Events

extension [Environment] {
    /// What a question without --environment is about, of those in which its id is known: a named
    /// environment goes before Unknown, which is what a payload gets that names none.
    var preferred: [Environment] {
        let named = filter { $0 != .unknown }
        return named.count == 1 ? named : self
    }
}
