package import Events
internal import Postgres

/// That a service was asked about a customer, an event or an upload.
package struct AuditEntry: Hashable, Sendable {
    /// When the request was accepted, on the service's clock.
    package let askedAt: Instant
    /// The id of the request in the log of the service.
    package let requestId: String
    /// The name of the token.
    package let token: String
    /// The address of the client; nil if it is not known.
    package let address: String?
    /// What was asked.
    package let question: String
    /// The id that was asked about.
    package let subject: String

    /// An entry.
    package init(
        askedAt: Instant,
        requestId: String,
        token: String,
        address: String?,
        question: String,
        subject: String
    ) {
        self.askedAt = askedAt
        self.requestId = requestId
        self.token = token
        self.address = address
        self.question = question
        self.subject = subject
    }
}

extension EventLog {
    /// Stores who asked about whom; returns when it is durable.
    ///
    /// - Parameters:
    ///   - entry: Who, and about whom.
    ///   - days: For how long it is kept, at least 1.
    /// - Throws: `databaseUnavailable`, `permissionDenied`.
    package func record(_ entry: AuditEntry, days: Int) async throws(EventLogError) {
        try await writing(
            "keep who asked",
            """
            INSERT INTO operation.audit (asked_at, request_id, token, address, question, subject,
                kept_until)
            VALUES ($1, $2, $3, $4, $5, $6, $1::timestamptz + $7 * interval '1 day')
            ON CONFLICT DO NOTHING
            """,
            [
                .timestamptz(microseconds: entry.askedAt.microseconds), .text(entry.requestId),
                .text(entry.token), .text(entry.address ?? ""), .text(entry.question),
                .text(entry.subject), .int4(Int32(clamping: days)),
            ]
        )
    }

    /// Removes the stored entries whose time is over.
    ///
    /// - Throws: `databaseUnavailable`, `permissionDenied`.
    package func forgetAudits() async throws(EventLogError) {
        try await writing("remove old entries of the audit", "SELECT ledger.forget_audits()", [])
    }
}
