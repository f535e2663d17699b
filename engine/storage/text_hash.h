/// Hashes content for cache keys and edit identities: FNV-1a, the same in every run and on every
/// machine.
#pragma once

#include <cstdint>
#include <string_view>

namespace kernelskill::engine {

class TextHash {
public:
    void add(std::string_view bytes) {
        add(static_cast<std::uint64_t>(bytes.size()));
        for (unsigned char byte : bytes)
            mix(byte);
    }
    void add(std::uint64_t number) {
        for (int shift = 0; shift < 64; shift += 8)
            mix(static_cast<unsigned char>(number >> shift));
    }
    [[nodiscard]] std::uint64_t value() const { return value_; }

private:
    void mix(unsigned char byte) { value_ = (value_ ^ byte) * 0x100000001b3u; }
    std::uint64_t value_ = 0xcbf29ce484222325u;
};

} // namespace kernelskill::engine
