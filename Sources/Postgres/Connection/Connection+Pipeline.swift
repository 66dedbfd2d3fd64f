import CPostgres

/// Statements sent together, with one Sync: one round trip and one implicit transaction.
extension Connection {
    /// The results of one pipeline are held in memory together; for more statements, use several
    /// pipelines inside a transaction, or COPY.
    static let pipelineStatementsMax = 10_000

    /// What one command of the pipeline does; the first use of a statement takes two commands.
    private enum Step {
        case prepare(StatementCache.Key, name: String, statement: Int)
        case execute(statement: Int, name: String?)

        var statement: Int {
            switch self {
            case .prepare(_, _, let statement), .execute(let statement, _): statement
            }
        }
    }

    /// Runs statements, and once more if a DDL change had invalidated prepared ones.
    func pipeline(
        _ statements: [PostgresStatement],
        _ cancellation: Cancellation
    ) throws(PostgresError) -> [PostgresRows] {
        guard !statements.isEmpty else { return [] }
        try check(statements)
        let wasIdle = isIdle
        do {
            return try runPipeline(statements, cancellation)
        } catch {
            // Everything was rolled back, so outside a transaction the retry is invisible.
            guard discardStale(statements, error), wasIdle, isIdle else { throw error }
            return try runPipeline(statements, cancellation)
        }
    }

    /// Runs statements between BEGIN and COMMIT, all in one round trip; `statementIndex` of a
    /// failure does not count those two.
    ///
    /// Unlike the implicit transaction of a pipeline, this is a single transaction in every engine
    /// that speaks the protocol, including a coordinator that forwards statements.
    func pipelineTransaction(
        _ statements: [PostgresStatement],
        _ cancellation: Cancellation
    ) throws(PostgresError) -> [PostgresRows] {
        let framed =
            [PostgresStatement("BEGIN READ WRITE", [])] + statements
            + [PostgresStatement("COMMIT", [])]
        try check(framed)
        do {
            return Array(try runFramed(framed, cancellation)[1...statements.count])
        } catch {
            guard discardStale(framed, error), isIdle else { throw unframed(error, statements) }
        }
        do {
            return Array(try runFramed(framed, cancellation)[1...statements.count])
        } catch {
            throw unframed(error, statements)
        }
    }

    // After a failure the transaction is still open and aborted.
    private func runFramed(
        _ framed: [PostgresStatement],
        _ cancellation: Cancellation
    ) throws(PostgresError) -> [PostgresRows] {
        do {
            return try runPipeline(framed, cancellation)
        } catch {
            if !isBroken, !isIdle { _ = try execute("ROLLBACK", .ignored) }
            throw error
        }
    }

    private func unframed(
        _ error: PostgresError,
        _ statements: [PostgresStatement]
    ) -> PostgresError {
        var error = error.statementIndex == 0 ? error.ofBegin : error
        error.statementIndex = error.statementIndex.flatMap { index in
            (1...statements.count).contains(index) ? index - 1 : nil
        }
        return error
    }

    private func check(_ statements: [PostgresStatement]) throws(PostgresError) {
        guard statements.count <= Self.pipelineStatementsMax else {
            throw PostgresError(
                .misuse,
                "A pipeline has \(statements.count) statements; at most "
                    + "\(Self.pipelineStatementsMax) are allowed. Split it inside a transaction, "
                    + "or use COPY."
            )
        }
        for statement in statements { try statement.check() }
    }

    private func runPipeline(
        _ statements: [PostgresStatement],
        _ cancellation: Cancellation
    ) throws(PostgresError) -> [PostgresRows] {
        try makeRoom(for: statements, cancellation)
        try begin(cancellation)
        guard PQenterPipelineMode(handle) == 1 else { throw lost() }
        let steps = plan(statements)
        for step in steps { try send(step, of: statements) }
        guard PQpipelineSync(handle) == 1 else { throw lost() }
        try flush(cancellation)
        return try collect(steps, cancellation)
    }

    private func plan(_ statements: [PostgresStatement]) -> [Step] {
        var steps: [Step] = []
        steps.reserveCapacity(statements.count + 1)
        var prepared: [StatementCache.Key: String] = [:]
        for (index, statement) in statements.enumerated() {
            let key = statement.cacheKey
            var name = cache.name(for: key) ?? prepared[key]
            if name == nil, cache.count + prepared.count < StatementCache.statementsMax {
                let fresh = cache.makeName()
                prepared[key] = fresh
                steps.append(.prepare(key, name: fresh, statement: index))
                name = fresh
            }
            steps.append(.execute(statement: index, name: name))
        }
        return steps
    }

    private func send(_ step: Step, of statements: [PostgresStatement]) throws(PostgresError) {
        let sent: Int32
        switch step {
        case .prepare(let key, let name, _):
            sent = PQsendPrepare(handle, name, key.sql, Int32(key.types.count), key.types)
        case .execute(let index, let name):
            let statement = statements[index]
            sent = statement.parameters.withEncoded { count, types, values, lengths, formats in
                if let name {
                    PQsendQueryPrepared(handle, name, count, values, lengths, formats, 1)
                } else {
                    PQsendQueryParams(
                        handle,
                        statement.sql,
                        count,
                        types,
                        values,
                        lengths,
                        formats,
                        1
                    )
                }
            }
        }
        guard sent == 1 else { throw lost() }
    }

    private func collect(
        _ steps: [Step],
        _ cancellation: Cancellation
    ) throws(PostgresError) -> [PostgresRows] {
        var rows: [PostgresRows] = []
        rows.reserveCapacity(steps.count)
        var failure: PostgresError?
        for step in steps {
            while let result = try nextResult(cancellation) {
                switch (result.status, step) {
                case (.rows, _), (.done, .execute):
                    rows.append(PostgresRows(result.take()))
                case (.done, .prepare(let key, let name, _)):
                    cache.insert(key, name: name)
                case (.failed, _):
                    var error = result.failure
                    error.statementIndex = step.statement
                    failure = failure ?? error
                case (.pipelineAborted, _):
                    break
                default:
                    throw copyRefused(step.statement)
                }
                if isBroken { break }
            }
            if isBroken { break }
        }

        if !isBroken, let atCommit = try endPipeline(cancellation) { failure = failure ?? atCommit }
        if let failure { throw error(failure) }
        if isBroken { throw lost() }
        return rows
    }

    /// Takes the answer to the Sync and, if the implicit commit was refused, that error.
    private func endPipeline(_ cancellation: Cancellation) throws(PostgresError) -> PostgresError? {
        var failure: PostgresError?
        var silences = 0
        // One nil separates the commands, a second ends a refused commit; more is a fault.
        while silences < 4 {
            guard let result = try nextResult(cancellation) else {
                if isBroken { return failure }
                silences += 1
                continue
            }
            if result.status == .pipelineSync {
                guard PQexitPipelineMode(handle) == 1 else { throw lost() }
                return failure
            }
            if result.status == .failed { failure = failure ?? result.failure }
        }
        throw lost()
    }

    /// libpq returns the same result for ever for a COPY in a pipeline, so the session ends.
    private func copyRefused(_ statement: Int) -> PostgresError {
        abandon()
        var error = PostgresError(
            .misuse,
            "COPY cannot run as a query or in a pipeline; the session was closed. Use copyIn or "
                + "copyOut."
        )
        error.statementIndex = statement
        return error
    }
}

extension Connection {
    /// Discards prepared statements that a DDL change invalidated.
    ///
    /// Returns whether there were any, so that a retry can help.
    private func discardStale(_ statements: [PostgresStatement], _ error: PostgresError) -> Bool {
        guard error.code == .server("0A000") else { return false }
        let before = cache.count
        for statement in statements { cache.discard(statement.cacheKey) }
        return cache.count < before
    }

    private func makeRoom(
        for statements: [PostgresStatement],
        _ cancellation: Cancellation
    ) throws(PostgresError) {
        // A failed transaction accepts no DEALLOCATE; the following statements fail in it anyway.
        if isInFailedTransaction { return }
        var newcomers: Set<StatementCache.Key> = []
        for statement in statements {
            let key = statement.cacheKey
            if cache.name(for: key) == nil { newcomers.insert(key) }
        }
        let names = cache.takeGarbage(roomFor: min(newcomers.count, StatementCache.statementsMax))
        guard !names.isEmpty else { return }
        try execute(names.map { "DEALLOCATE \($0)" }.joined(separator: ";"), cancellation)
    }
}
