import AppStore

/// The decoders of text: JSON, and the splitting of files.
extension Fuzzer {
    func runJSON(_ mutator: inout Mutator) throws(Finding) {
        let text = mutator.mutated(claimsOrBody(&mutator))
        let first = Result { () throws(JSON.Failure) in try JSON(text) }
        switch (first, Result { () throws(JSON.Failure) in try JSON(text) }) {
        case (.success(let json), .success):
            try expectSound(json, text)
        case (.failure(let left), .failure(let right)) where left == right:
            guard (0...text.count).contains(left.offset) else {
                throw Finding(message: "a fault outside of the text", input: text)
            }
        default: throw Finding(message: "two answers to one text", input: text)
        }
    }

    // The canonical text means the same: it is a fixed point.
    private func expectSound(_ json: JSON, _ text: [UInt8]) throws(Finding) {
        let canonical = json.root.canonicalText
        do {
            guard try JSON(canonical).root.canonicalText == canonical else {
                throw Finding(message: "a canonical text that is not canonical", input: text)
            }
        } catch let failure as JSON.Failure {
            throw Finding(message: "a canonical text that is no JSON: \(failure)", input: text)
        } catch let finding as Finding {
            throw finding
        } catch {
            throw Finding(message: "\(error)", input: text)
        }
        var ends = 0
        json.root.walk { name, value in
            ends += (name.utf8?.count ?? 0) + (value.utf8?.count ?? 0)
            ends += value.integer == nil ? 0 : 1
            ends += value.truncatedInteger == nil ? 0 : 1
            ends += value.text?.utf8.count ?? 0
        }
        guard ends >= 0 else { throw Finding(message: "impossible", input: text) }
    }

    private func claimsOrBody(_ mutator: inout Mutator) -> [UInt8] {
        guard mutator.number(2) == 0 else { return mutator.element(of: corpus.unsigned) }
        return mutator.element(of: corpus.claims)
    }

    func runSplitter(_ mutator: inout Mutator) throws(Finding) {
        let file = mutator.changedBytes(file(&mutator))
        let whole = Fuzzer.described(PayloadSplitter.split(file))
        var splitter = PayloadSplitter()
        var pieces: [PayloadSplitter.Piece] = []
        var position = 0
        while position < file.count {
            let end = min(file.count, position + 1 + mutator.number(mutator.chance(50) ? 9 : 9999))
            pieces += splitter.append(file[position..<end])
            position = end
        }
        pieces += splitter.finish()
        guard Fuzzer.described(pieces) == whole else {
            throw Finding(message: "chunks make a difference", input: file)
        }
        guard whole.reduce(0, { $0 + $1.count }) <= file.count else {
            throw Finding(message: "more bytes out than in", input: file)
        }
    }

    // Lines, an array, consecutive objects, or one payload.
    private func file(_ mutator: inout Mutator) -> [UInt8] {
        let kinds = [corpus.statements, corpus.contents, corpus.claims, corpus.receipts]
        let payloads = (0..<mutator.number(5)).map { _ in
            mutator.element(of: mutator.element(of: kinds)).prefix(mutator.number(3000))
        }
        let separators = ["\n", "\r\n", ",", ", ", "", "\",\"", "\n\n", " "]
        let separator = Array(mutator.element(of: separators).utf8)
        let file = Array(payloads.joined(separator: separator))
        switch mutator.number(5) {
        case 0: return Array("[".utf8) + file + Array("]".utf8)
        case 1: return Array("[\"".utf8) + file + Array("\"]".utf8)
        case 2: return [0xef, 0xbb, 0xbf] + file
        default: return file
        }
    }

    private static func described(_ pieces: [PayloadSplitter.Piece]) -> [[UInt8]] {
        pieces.map { piece in
            switch piece {
            case .success(let bytes): bytes
            case .failure: []
            }
        }
    }
}
