#include "analysis/compile/ptxas_report.h"

#include <algorithm>
#include <cctype>
#include <charconv>

namespace kernelskill::analysis {
namespace {

/// The number before `phrase`: "412 bytes spill stores", "2048+16 bytes smem".
std::optional<std::uint64_t> numberBefore(std::string_view line, std::string_view phrase) {
    const auto at = line.find(phrase);
    if (at == std::string_view::npos)
        return std::nullopt;
    auto begin = at;
    while (begin > 0 && (std::isdigit(static_cast<unsigned char>(line[begin - 1])) != 0 ||
                         line[begin - 1] == '+'))
        --begin;
    std::uint64_t sum = 0;
    for (auto rest = line.substr(begin, at - begin); !rest.empty();) {
        std::uint64_t value = 0;
        const auto [end, error] = std::from_chars(rest.data(), rest.data() + rest.size(), value);
        if (error != std::errc{})
            return std::nullopt;
        sum += value;
        rest.remove_prefix(static_cast<std::size_t>(end - rest.data()));
        if (rest.starts_with('+'))
            rest.remove_prefix(1);
    }
    return begin == at ? std::nullopt : std::optional(sum);
}

/// The quoted text after `phrase`.
std::optional<std::string> quotedBehind(std::string_view line, std::string_view phrase) {
    const auto at = line.find(phrase);
    if (at == std::string_view::npos)
        return std::nullopt;
    const auto open = line.find('\'', at + phrase.size());
    const auto close = open == std::string_view::npos ? open : line.find('\'', open + 1);
    if (close == std::string_view::npos)
        return std::nullopt;
    return std::string(line.substr(open + 1, close - open - 1));
}

class Reader {
public:
    void read(std::string_view line) {
        if (auto symbol = quotedBehind(line, "Compiling entry function"))
            beginKernel(std::move(*symbol), quotedBehind(line, "' for"));
        else if (const auto at = line.find(propertiesPhrase); at != std::string_view::npos)
            described_ = indexOf(std::string(line.substr(at + propertiesPhrase.size())));
        else if (line.find("bytes stack frame") != std::string_view::npos)
            addFrame(line);
        else if (line.find(" registers") != std::string_view::npos)
            addUse(line);
    }

    std::vector<FunctionResources> functions;

private:
    static constexpr std::string_view propertiesPhrase = "Function properties for ";

    void beginKernel(std::string symbol, std::optional<std::string> architecture) {
        kernel_ = functions.size();
        described_ = kernel_;
        auto& kernel = functions.emplace_back();
        kernel.symbol = std::move(symbol);
        kernel.isKernel = true;
        kernel.architecture = std::move(architecture).value_or("");
    }

    /// The index of the named function. Adds one, unless it is the kernel being compiled.
    std::size_t indexOf(std::string symbol) {
        while (!symbol.empty() && std::isspace(static_cast<unsigned char>(symbol.back())) != 0)
            symbol.pop_back();
        if (kernel_ && functions[*kernel_].symbol == symbol)
            return *kernel_;
        functions.emplace_back().symbol = std::move(symbol);
        return functions.size() - 1;
    }

    void addFrame(std::string_view line) {
        if (!described_)
            return;
        auto& function = functions[*described_];
        function.stackBytes = numberBefore(line, " bytes stack frame");
        function.spillStoreBytes = numberBefore(line, " bytes spill stores");
        function.spillLoadBytes = numberBefore(line, " bytes spill loads");
    }

    /// Reads "Used 32 registers, used 1 barriers, 8 bytes cumulative stack size, 128 bytes smem".
    void addUse(std::string_view line) {
        const auto registers = numberBefore(line, " registers");
        if (!kernel_ || !registers || line.find("Used ") == std::string_view::npos)
            return;
        auto& kernel = functions[*kernel_];
        kernel.registers = static_cast<std::uint32_t>(*registers);
        kernel.staticSharedBytes = numberBefore(line, " bytes smem").value_or(0);
        kernel.barriers = static_cast<std::uint32_t>(numberBefore(line, " barriers").value_or(0));
    }

    std::optional<std::size_t> kernel_;    ///< The kernel that is being compiled.
    std::optional<std::size_t> described_; ///< The function whose frame the next line describes.
};

} // namespace

std::vector<FunctionResources> parsePtxasReport(std::string_view log) {
    Reader reader;
    while (!log.empty()) {
        const auto end = log.find('\n');
        const auto line = log.substr(0, end);
        if (line.starts_with("ptxas") || line.starts_with(' '))
            reader.read(line);
        log.remove_prefix(end == std::string_view::npos ? log.size() : end + 1);
    }
    return std::move(reader.functions);
}

} // namespace kernelskill::analysis
