import CPostgres

/// COPY in both directions, in bounded memory.
extension Connection {
    /// Bytes to send at once: enough to make the cost of a call negligible, few enough to buffer.
    static let copyBufferBytes = 64 * 1024

    /// A larger buffer is split, because libpq copies each piece once more.
    static let copyMessageBytesMax = 1 << 20

    /// Sends what `fill` appends until it returns false, and returns the number of rows.
    ///
    /// `fill` appends to a buffer that is sent and emptied once it holds ``copyBufferBytes``.
    func copyIn<E: PostgresErrorConvertible>(
        _ sql: String,
        _ cancellation: Cancellation,
        _ fill: (inout [UInt8]) throws(E) -> Bool
    ) throws(E) -> Int64 {
        try converting(to: E.self, try startCopy(sql, expecting: .copyIn, cancellation))
        var buffer: [UInt8] = []
        buffer.reserveCapacity(Self.copyBufferBytes + 1024)
        do throws(E) {
            var hasMore = true
            while hasMore {
                hasMore = try fill(&buffer)
                guard !hasMore || buffer.count >= Self.copyBufferBytes else { continue }
                try converting(to: E.self, try put(buffer, cancellation))
                buffer.removeAll(keepingCapacity: true)
            }
        } catch {
            // The caller's error is the one that matters; the server's echo of it is dropped.
            abortCopyIn()
            throw error
        }
        try converting(to: E.self, try endCopyIn(reason: nil, cancellation))
        return try converting(to: E.self, try finish(cancellation)).affectedRows
    }

    /// Passes every piece that the server sends to `take`.
    func copyOut<E: PostgresErrorConvertible>(
        _ sql: String,
        _ cancellation: Cancellation,
        _ take: (UnsafeRawBufferPointer) throws(E) -> Void
    ) throws(E) {
        try converting(to: E.self, try startCopy(sql, expecting: .copyOut, cancellation))
        do throws(E) {
            while let chunk = try converting(to: E.self, try nextChunk(cancellation)) {
                try take(chunk.bytes)
            }
        } catch {
            abortCopyOut()
            throw error
        }
        _ = try converting(to: E.self, try finish(cancellation))
    }

    /// Ends a COPY FROM STDIN: with success, or with a reason that the server reports back.
    func endCopyIn(reason: String?, _ cancellation: Cancellation) throws(PostgresError) {
        while true {
            switch PQputCopyEnd(handle, reason) {
            case 1: return try flush(cancellation)
            case 0: try flush(cancellation)
            default: throw lost()
            }
        }
    }

    /// Reads a COPY TO STDOUT to its end and discards it.
    func drainCopyOut(_ cancellation: Cancellation) throws(PostgresError) {
        while try nextChunk(cancellation) != nil {}
    }
}

extension Connection {
    /// One piece of a COPY TO STDOUT, freed when it goes out of scope.
    struct Chunk: ~Copyable {
        let pointer: UnsafeMutablePointer<CChar>
        let count: Int

        deinit { PQfreemem(pointer) }

        var bytes: UnsafeRawBufferPointer {
            UnsafeRawBufferPointer(start: pointer, count: count)
        }
    }

    private func nextChunk(_ cancellation: Cancellation) throws(PostgresError) -> Chunk? {
        while true {
            var pointer: UnsafeMutablePointer<CChar>?
            let count = PQgetCopyData(handle, &pointer, 1)
            if count > 0, let pointer { return Chunk(pointer: pointer, count: Int(count)) }
            switch count {
            case -1: return nil
            case 0:
                _ = try wait(for: Self.readable, cancellation)
                if PQconsumeInput(handle) == 0 { throw lost() }
            default: throw lost()
            }
        }
    }

    private func startCopy(
        _ sql: String,
        expecting direction: ServerResult.Status,
        _ cancellation: Cancellation
    ) throws(PostgresError) {
        try PostgresStatement.check(sql)
        try begin(cancellation)
        guard PQsendQuery(handle, sql) == 1 else { throw lost() }
        try flush(cancellation)
        guard let result = try nextResult(cancellation) else { throw lost() }
        switch result.status {
        case direction: return
        case .copyIn: abortCopyIn()
        case .copyOut: abortCopyOut()
        case .failed:
            let failure = result.failure
            try skipToEnd(cancellation)
            throw error(failure)
        default: try skipToEnd(cancellation)
        }
        throw PostgresError(
            .misuse,
            "The statement is not a COPY in this direction: copyIn takes COPY … FROM STDIN, "
                + "copyOut takes COPY … TO STDOUT."
        )
    }

    private func put(_ bytes: [UInt8], _ cancellation: Cancellation) throws(PostgresError) {
        if cancellation == .obeyed, Task.isCancelled { throw Self.cancelled() }
        var start = 0
        while start < bytes.count {
            let end = min(start + Self.copyMessageBytesMax, bytes.count)
            let result = bytes[start..<end].withUnsafeBytes { raw in
                PQputCopyData(handle, raw.bindMemory(to: CChar.self).baseAddress, Int32(raw.count))
            }
            guard result == 1 else { throw lost() }
            // Without this flush, the bytes would pile up in memory faster than the server reads
            // them.
            try flush(cancellation)
            start = end
        }
    }

    private func abortCopyIn() {
        leaveCopy { () throws(PostgresError) in
            try endCopyIn(reason: "the client stopped", .ignored)
            try skipToEnd(.ignored)
        }
    }

    private func abortCopyOut() {
        requestCancel()
        leaveCopy { () throws(PostgresError) in
            try drainCopyOut(.ignored)
            try skipToEnd(.ignored)
        }
    }

    private func leaveCopy(_ steps: () throws(PostgresError) -> Void) {
        do {
            try steps()
        } catch {
            // A connection that cannot leave the COPY is unusable.
            abandon()
        }
    }

    private func skipToEnd(_ cancellation: Cancellation) throws(PostgresError) {
        while let result = try nextResult(cancellation) {
            switch result.status {
            case .rows, .done, .failed: if isBroken { return }
            default: throw lost()
            }
        }
    }
}

/// Runs a step of this module inside work that throws the caller's error type.
func converting<R: ~Copyable, E: PostgresErrorConvertible>(
    to type: E.Type,
    _ body: @autoclosure () throws(PostgresError) -> R
) throws(E) -> R {
    do {
        return try body()
    } catch {
        throw E(error)
    }
}
