extension String {
    /// The text with everything that could control a terminal or reverse its lines escaped, such as
    /// `\u{1B}`: payloads, file names and arguments may contain anything.
    ///
    /// Line breaks and tabs stay.
    package var harmless: String {
        guard unicodeScalars.contains(where: \.isHarmful) else { return self }
        return unicodeScalars.reduce(into: "") { text, scalar in
            if scalar.isHarmful {
                text += "\\u{" + String(scalar.value, radix: 16, uppercase: true) + "}"
            } else {
                text.unicodeScalars.append(scalar)
            }
        }
    }
}

extension Unicode.Scalar {
    // Control characters, and those that only direct or join the text.
    fileprivate var isHarmful: Bool {
        switch value {
        case 0x09, 0x0A: false
        case 0..<0x20, 0x7F..<0xA0: true
        case 0x61C, 0x200B, 0x200E, 0x200F, 0x202A...0x202E, 0x2060...0x206F, 0xFEFF: true
        default: false
        }
    }
}
