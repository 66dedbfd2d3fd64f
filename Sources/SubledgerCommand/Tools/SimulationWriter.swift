import AppStoreSimulator
import CommandSupport
import Foundation

/// Writes payloads to a folder: one file of lines for each channel, or one file for each payload.
///
/// App receipts are binary and always in separate files, in a folder of their own, named for the
/// subscription whose purchases they contain.
struct SimulationWriter {
    /// What was written to one place.
    struct Place: Encodable {
        /// The file or folder, within the output folder.
        let path: String
        /// The content, in the words of the simulator's channels.
        let channel: String
        var payloads: Int
    }

    private let folder: String
    private let isOneFileEach: Bool
    private var handles: [Delivery.Channel: FileHandle] = [:]
    private var counts: [Delivery.Channel: Int] = [:]
    private var logs: LogFolderWriter?
    private(set) var payloads = 0

    init(folder: String, isOneFileEach: Bool, asLogs: Bool = false) throws {
        try SimulationWriter.makeFolder(folder)
        self.folder = folder
        self.isOneFileEach = isOneFileEach
        logs = asLogs ? LogFolderWriter(folder: folder) : nil
    }

    /// The places of the payloads, in the order of their names; with separate files, only that of
    /// the receipts.
    var places: [Place] {
        counts.map { channel, count in
            Place(path: name(of: channel), channel: channel.rawValue, payloads: count)
        }.sorted { $0.channel < $1.channel }
    }

    func write(root: [UInt8]) throws {
        try SimulationWriter.write(root, to: "\(folder)/root.der")
    }

    /// The private key for tokens of a store that is served; no other user may read it.
    func write(key pem: String) throws {
        let path = "\(folder)/AuthKey.p8"
        try SimulationWriter.write(Array(pem.utf8), to: path)
        guard chmod(path, 0o600) == 0 else { throw SimulationWriter.cannotWrite(path, errno) }
    }

    func write(catalog: [UInt8]) throws {
        try SimulationWriter.write(catalog, to: "\(folder)/catalog.storekit")
    }

    mutating func write(_ delivery: Delivery, of life: SubscriptionLife, number: Int) throws {
        payloads += 1
        counts[delivery.channel, default: 0] += 1
        if logs != nil {
            try logs?.write(delivery)
        } else if delivery.channel == .appReceipt {
            try writeReceipt(delivery, of: life, number: number)
        } else if isOneFileEach {
            let number = String(String(payloads + 1_000_000_000).dropFirst())
            let path = "\(folder)/\(number)-\(delivery.channel.rawValue).json"
            try SimulationWriter.write(delivery.payload, to: path)
        } else {
            try line(for: delivery.channel).write(
                contentsOf: Data(delivery.payload + [UInt8(ascii: "\n")])
            )
        }
    }

    mutating func finish() throws {
        try logs?.finish()
        for handle in handles.values { try handle.close() }
    }

    /// A new, empty file; an existing one is replaced.
    static func create(_ path: String) throws -> FileHandle {
        let descriptor = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o666)
        guard descriptor >= 0 else { throw cannotWrite(path, errno) }
        return FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
    }

    private static func write(_ bytes: [UInt8], to path: String) throws {
        let handle = try create(path)
        if let number = StandardStream.write(bytes, to: handle.fileDescriptor) {
            throw cannotWrite(path, number)
        }
        try handle.close()
    }

    // With its parent folders; an existing one must be writable.
    private static func makeFolder(_ path: String) throws {
        if let status = FileStatus(path) {
            guard status.kind == .folder else { throw cannotWrite(path, ENOTDIR) }
            guard access(path, W_OK | X_OK) == 0 else { throw cannotWrite(path, errno) }
            return
        }
        guard errno == ENOENT else { throw cannotWrite(path, errno) }
        let above = URL(fileURLWithPath: path).deletingLastPathComponent().path
        try makeFolder(above)
        guard mkdir(path, 0o777) == 0 || errno == EEXIST else { throw cannotWrite(path, errno) }
    }

    private static func cannotWrite(_ path: String, _ number: Int32) -> Failure {
        let isForbidden = [EACCES, EPERM, EROFS].contains(number)
        return Failure(
            isForbidden ? Exit.permission : Exit.internalError,
            "\(path) cannot be written: \(String(cString: strerror(number))); name another folder "
                + "with --out"
        )
    }

    private func name(of channel: Delivery.Channel) -> String {
        if channel == .appReceipt || logs != nil { return channel.rawValue + "/" }
        return isOneFileEach ? "*-\(channel.rawValue).json" : "\(channel.rawValue).ndjson"
    }

    private mutating func line(for channel: Delivery.Channel) throws -> FileHandle {
        if let open = handles[channel] { return open }
        let handle = try SimulationWriter.create("\(folder)/\(name(of: channel))")
        handles[channel] = handle
        return handle
    }

    private func writeReceipt(
        _ delivery: Delivery,
        of life: SubscriptionLife,
        number: Int
    ) throws {
        let receipts = "\(folder)/\(delivery.channel.rawValue)"
        try SimulationWriter.makeFolder(receipts)
        let digits = String(String(number + 10_000).dropFirst())
        let path = "\(receipts)/\(life.originalTransactionId)-\(digits).der"
        try SimulationWriter.write(delivery.payload, to: path)
    }
}
