#include "engine/storage/content_hash.h"

#include "analysis/source/files.h"

namespace kernelskill::engine {

void ContentHash::add(std::string_view text) {
    const auto mix = [&](unsigned char byte) {
        first_ = (first_ ^ byte) * 0x100000001b3u;
        second_ = (second_ + byte) * 0xd1342543de82ef95u;
        second_ ^= second_ >> 29;
    };
    for (auto size = text.size(), i = std::size_t{0}; i < sizeof(size); ++i)
        mix(static_cast<unsigned char>(size >> (8 * i)));
    for (const char c : text)
        mix(static_cast<unsigned char>(c));
}

void ContentHash::addFile(const std::filesystem::path& path) {
    add(analysis::readFile(path).value_or("(unreadable)"));
}

std::string ContentHash::hex() const {
    static constexpr std::string_view digits = "0123456789abcdef";
    std::string result;
    for (const auto part : {first_, second_}) {
        for (int shift = 60; shift >= 0; shift -= 4)
            result += digits[(part >> shift) & 15u];
    }
    return result;
}

} // namespace kernelskill::engine
