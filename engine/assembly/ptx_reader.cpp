#include "engine/assembly/ptx_reader.h"

#include "engine/assembly/called_functions.h"
#include "engine/assembly/file_table.h"
#include "engine/assembly/ptx_scanner.h"

#include <array>
#include <charconv>
#include <map>
#include <optional>
#include <utility>
#include <vector>

namespace kernelskill::engine {
namespace {

/// More levels than any compiler inlines: deeper nesting is a cycle.
constexpr std::size_t deepestInlining = 64;

/// The file number, line and column of a ".loc"; line and column count from 1.
using Location = std::array<std::uint32_t, 3>;

std::string_view nextWord(std::string_view& text) {
    text.remove_prefix(std::min(text.find_first_not_of(" ,"), text.size()));
    const auto word = text.substr(0, text.find_first_of(" ,"));
    text.remove_prefix(word.size());
    return word;
}

std::optional<std::uint32_t> nextNumber(std::string_view& text) {
    const auto word = nextWord(text);
    std::uint32_t number = 0;
    const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), number);
    if (error != std::errc{} || end != word.data() + word.size())
        return std::nullopt;
    return number;
}

std::optional<Location> nextLocation(std::string_view& text) {
    Location location{};
    for (auto& part : location) {
        const auto number = nextNumber(text);
        if (!number)
            return std::nullopt;
        part = *number;
    }
    return location;
}

/// The name of the function that a header declares; empty if there is none.
std::string functionIn(std::string_view header) {
    const auto keyword = [&](std::string_view word) {
        const auto at = header.find(word);
        return at == std::string_view::npos ? at : at + word.size();
    };
    const auto entry = keyword(".entry ");
    const auto function = keyword(".func ");
    if (entry == std::string_view::npos && function == std::string_view::npos)
        return {};
    auto rest = header.substr(std::min(entry, function));
    if (rest.starts_with('(')) { // The return value.
        rest.remove_prefix(std::min(rest.find(')'), rest.size() - 1) + 1);
        rest.remove_prefix(std::min(rest.find_first_not_of(' '), rest.size()));
    }
    return std::string(rest.substr(0, rest.find_first_of(" (")));
}

class Reader {
public:
    explicit Reader(std::string_view text) : scanner_(text), files_(listing_.files) {
        listing_.language = AssemblyLanguage::Ptx;
    }

    Listing run() {
        using enum PtxStatement::Kind;
        while (auto statement = scanner_.next()) {
            switch (statement->kind) {
            case Line:
                directive(statement->text);
                break;
            case Header:
                enter(functionIn(statement->text));
                break;
            case Open:
                ++depth_;
                break;
            case Close:
                depth_ -= depth_ > 0 ? 1 : 0;
                if (depth_ == 0)
                    isInFunction_ = false;
                break;
            case Label:
                if (isInFunction_)
                    waitingLabels_.push_back(std::move(statement->text));
                break;
            case Instruction:
                if (isInFunction_ && !statement->text.empty() && !statement->text.starts_with('.'))
                    add(std::move(*statement));
                break;
            }
        }
        resolvePlaces();
        return std::move(listing_);
    }

private:
    [[nodiscard]] std::uint32_t count() const {
        return static_cast<std::uint32_t>(listing_.instructions.size());
    }

    void enter(std::string symbol) {
        isInFunction_ = !symbol.empty();
        location_.clear();
        waitingLabels_.clear();
        if (isInFunction_)
            listing_.functions.push_back({std::move(symbol), count()});
    }

    void directive(std::string_view text) {
        const auto name = nextWord(text);
        if (name == ".file") {
            const auto number = nextNumber(text);
            const auto open = text.find('"');
            if (number && open != std::string_view::npos)
                fileNames_[*number] = text.substr(open + 1, text.find('"', open + 1) - open - 1);
        } else if (name == ".loc") {
            if (const auto location = nextLocation(text))
                enterLocation(*location, text);
        }
    }

    /// `rest` may name the place where the function was inlined.
    void enterLocation(const Location& location, std::string_view rest) {
        constexpr std::string_view keyword = "inlined_at ";
        const auto at = rest.find(keyword);
        inlinedAt_.erase(location);
        if (at != std::string_view::npos) {
            rest.remove_prefix(at + keyword.size());
            if (const auto outer = nextLocation(rest))
                inlinedAt_[location] = *outer;
        }
        location_.clear();
        for (std::optional<Location> next = location; next && location_.size() < deepestInlining;) {
            location_.push_back(*next);
            const auto outer = inlinedAt_.find(*next);
            next = outer == inlinedAt_.end() ? std::nullopt : std::optional(outer->second);
        }
    }

    void add(PtxStatement statement) {
        for (auto& label : waitingLabels_)
            listing_.labels.push_back({std::move(label), count()});
        waitingLabels_.clear();
        AssemblyInstruction instruction;
        instruction.address = statement.line;
        std::string_view rest = statement.text;
        if (rest.starts_with('@'))
            nextWord(rest);
        instruction.opcode = nextWord(rest);
        instruction.text = std::move(statement.text);
        instruction.kind = classOfPtx(instruction.opcode);
        instruction.function = static_cast<std::uint32_t>(listing_.functions.size() - 1);
        listing_.instructions.push_back(std::move(instruction));
        locations_.push_back(location_);
    }

    /// The names of files come last in the text.
    void resolvePlaces() {
        for (std::size_t i = 0; i < locations_.size(); ++i) {
            for (const auto& [file, line, column] : locations_[i]) {
                const auto name = fileNames_.find(file);
                if (line > 0 && name != fileNames_.end())
                    listing_.instructions[i].places.push_back(
                        {files_.indexOf(name->second), line - 1});
            }
        }
    }

    PtxScanner scanner_;
    Listing listing_;
    FileTable files_;
    std::map<std::uint32_t, std::string> fileNames_;
    std::map<Location, Location> inlinedAt_; ///< From the latest ".loc" of each place.
    std::vector<Location> location_; ///< The place of the next instruction, innermost first.
    std::vector<std::vector<Location>> locations_; ///< The places of each instruction.
    std::vector<std::string> waitingLabels_;       ///< Wait for the next instruction.
    std::uint32_t depth_ = 0;
    bool isInFunction_ = false;
};

} // namespace

Result<Listing> readPtx(std::string_view text, const std::string& symbol) {
    auto listing = withCalledFunctions(Reader(text).run(), symbol);
    if (!listing)
        return std::unexpected(
            Error{ErrorKind::Failed, "the compiler's PTX holds no kernel " + symbol, {}, {}});
    return std::move(*listing);
}

} // namespace kernelskill::engine
