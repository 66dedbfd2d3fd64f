package import EventLog

extension VerificationReport {
    /// What was not proved; nil if nothing was left out, or if something does not match.
    package var note: String? {
        guard isOK else { return nil }
        var sentences: [String] = []
        if since != nil {
            sentences.append(
                "Commits up to the checkpoint were not read; verify without --since reads them."
            )
        }
        if !isRewriteExcluded {
            let isPartly = since != nil || evidence.contains { $0.proven != nil }
            sentences.append(isPartly ? Self.laterNotExcluded : Self.notExcluded)
        }
        return sentences.isEmpty ? nil : sentences.joined(separator: " ")
    }

    private static var notExcluded: String {
        """
        Not excluded: someone with superuser rights can rewrite the whole chain with digests that \
        match. Only a checkpoint kept outside the database reveals that: verify --against FILE
        """
    }

    private static var laterNotExcluded: String {
        """
        Not excluded for later commits: a rewrite with digests that match, by someone with \
        superuser rights. To cover them, take a new checkpoint: subledger checkpoint
        """
    }
}
