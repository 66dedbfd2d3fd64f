extension PostgresSession {
    /// Sends a `COPY … FROM STDIN` of any format, and returns the number of rows.
    ///
    /// `next` returns chunks of any size, and nil at the end; an empty chunk is allowed. An error
    /// that it throws ends the COPY, which then has no effect, and is rethrown.
    @discardableResult
    package func copyIn<State: Sendable, E: PostgresErrorConvertible>(
        _ sql: String,
        from state: State,
        chunks next: @Sendable (inout State) throws(E) -> [UInt8]?
    ) throws(E) -> Int64 {
        let connection = try converting(to: E.self, try openConnection())
        var state = state
        return try connection.copyIn(sql, .obeyed) { (buffer) throws(E) in
            guard let chunk = try next(&state) else { return false }
            buffer.append(contentsOf: chunk)
            return true
        }
    }

    /// Sends a `COPY … FROM STDIN (FORMAT BINARY)` row by row, and returns the number of rows.
    ///
    /// `fill` writes whole rows, at least one, and returns false if there are no more; header and
    /// trailer are added. Memory use stays near 64 kB plus the rows of one call.
    @discardableResult
    package func copyIn<State: Sendable, E: PostgresErrorConvertible>(
        _ sql: String,
        from state: State,
        rows fill: @Sendable (inout State, inout CopyBinaryWriter) throws(E) -> Bool
    ) throws(E) -> Int64 {
        let connection = try converting(to: E.self, try openConnection())
        var state = state
        var writer = CopyBinaryWriter()
        return try connection.copyIn(sql, .obeyed) { (buffer) throws(E) in
            let hasMore = try fill(&state, &writer)
            if !hasMore { writer.finish() }
            writer.drain(into: &buffer)
            return hasMore
        }
    }

    /// Folds over the bytes of a `COPY … TO STDOUT`.
    ///
    /// In the text and CSV formats a piece is a whole row with its line break; in the binary format
    /// it may end anywhere. It is valid only during the call. An error that `fold` throws ends the
    /// COPY and is rethrown; the session survives.
    package func copyOut<State: Sendable, E: PostgresErrorConvertible>(
        _ sql: String,
        into state: State,
        _ fold: @Sendable (inout State, UnsafeRawBufferPointer) throws(E) -> Void
    ) throws(E) -> State {
        let connection = try converting(to: E.self, try openConnection())
        var state = state
        try connection.copyOut(sql, .obeyed) { (bytes) throws(E) in try fold(&state, bytes) }
        return state
    }

    /// Folds over the rows of a `COPY … TO STDOUT (FORMAT BINARY)`.
    ///
    /// A row is valid only during the call. Throws `protocolViolation` if the bytes are not whole
    /// rows.
    package func copyOut<State: Sendable, E: PostgresErrorConvertible>(
        _ sql: String,
        into state: State,
        rows fold: @Sendable (inout State, borrowing CopyBinaryRow) throws(E) -> Void
    ) throws(E) -> State {
        let connection = try converting(to: E.self, try openConnection())
        var state = state
        var reader = CopyBinaryReader()
        try connection.copyOut(sql, .obeyed) { (bytes) throws(E) in
            try reader.consume(bytes) { (row) throws(E) in try fold(&state, row) }
        }
        try converting(to: E.self, try reader.finish())
        return state
    }
}
