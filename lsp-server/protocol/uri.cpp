#include "lsp-server/protocol/uri.h"

#include <spdlog/fmt/fmt.h>

#include <cctype>
#include <charconv>

namespace kernelskill::lsp {

std::optional<std::filesystem::path> pathFromUri(std::string_view uri) {
    constexpr std::string_view scheme = "file://";
    if (!uri.starts_with(scheme))
        return std::nullopt;
    uri.remove_prefix(scheme.size());
    const auto slash = uri.find('/'); // The host precedes it, which is this machine.
    if (slash == std::string_view::npos)
        return std::nullopt;
    uri.remove_prefix(slash);
    std::string path;
    for (std::size_t i = 0; i < uri.size(); ++i) {
        unsigned value = 0;
        if (uri[i] == '%' && i + 2 < uri.size() &&
            std::from_chars(uri.data() + i + 1, uri.data() + i + 3, value, 16).ptr ==
                uri.data() + i + 3) {
            path += static_cast<char>(value);
            i += 2;
        } else {
            path += uri[i];
        }
    }
    if (path.find('\0') != std::string::npos)
        return std::nullopt;
    return std::filesystem::path(path).lexically_normal();
}

std::string uriFromPath(const std::filesystem::path& path) {
    std::string uri = "file://";
    for (const char character : path.string()) {
        const auto byte = static_cast<unsigned char>(character);
        const bool plain = byte < 0x80 && (std::isalnum(byte) != 0 || byte == '/' || byte == '-' ||
                                           byte == '_' || byte == '.' || byte == '~');
        if (plain)
            uri += character;
        else
            uri += fmt::format("%{:02X}", byte);
    }
    return uri;
}

} // namespace kernelskill::lsp
