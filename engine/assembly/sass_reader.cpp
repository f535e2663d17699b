#include "engine/assembly/sass_reader.h"

#include "analysis/source/trimmed.h"
#include "engine/assembly/called_functions.h"
#include "engine/assembly/file_table.h"

#include <algorithm>
#include <charconv>
#include <optional>
#include <utility>
#include <vector>

namespace kernelskill::engine {
namespace {

constexpr std::string_view sectionPrefix = ".text.";
/// The file name of places in the PTX itself; it is no file.
constexpr std::string_view ptxFile = ".nv_debug_ptx_txt";

std::string withSingleBlanks(std::string_view text) {
    std::string result;
    for (const char c : text) {
        const bool isBlank = c == ' ' || c == '\t';
        if (!isBlank)
            result += c;
        else if (!result.empty() && result.back() != ' ')
            result += ' ';
    }
    return result;
}

template <typename Number>
std::optional<Number> numberAt(std::string_view text, int base) {
    Number number = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number, base);
    return error == std::errc{} && end != text.data() ? std::optional(number) : std::nullopt;
}

struct NamedLine {
    std::string file;
    std::uint32_t line = 0; ///< One-based.
};

/// Removes `"file", line 12` from the front of `text`.
std::optional<NamedLine> takePlace(std::string_view& text) {
    constexpr std::string_view lineWord = "\", line ";
    const auto open = text.find('"');
    const auto close = open == std::string_view::npos ? open : text.find(lineWord, open + 1);
    if (close == std::string_view::npos)
        return std::nullopt;
    NamedLine place{std::string(text.substr(open + 1, close - open - 1)), 0};
    text.remove_prefix(close + lineWord.size());
    const auto number = numberAt<std::uint32_t>(text, 10);
    if (!number)
        return std::nullopt;
    place.line = *number;
    return place;
}

struct AddressedText {
    std::uint32_t address = 0;
    std::string_view text;
};

/// Reads "/*0090*/  @!P0 BRA `(.L_x_1) ;  /* encoding */"; nullopt for any other line.
std::optional<AddressedText> instructionIn(std::string_view line) {
    if (!line.starts_with("/*"))
        return std::nullopt;
    const auto close = line.find("*/");
    const auto address = numberAt<std::uint64_t>(line.substr(2), 16);
    if (close == std::string_view::npos || !address)
        return std::nullopt;
    auto text = line.substr(close + 2);
    text = analysis::trimmed(text.substr(0, std::min(text.find(';'), text.find("/*"))));
    // Two instructions issued together, on GPUs before Volta.
    if (text.starts_with('{'))
        text = analysis::trimmed(text.substr(1));
    if (text.empty() || text == "}")
        return std::nullopt;
    return AddressedText{static_cast<std::uint32_t>(*address), text};
}

class Reader {
public:
    Reader() : files_(listing_.files) { listing_.language = AssemblyLanguage::Sass; }

    Listing run(std::string_view text) {
        while (!text.empty()) {
            const auto end = std::min(text.find('\n'), text.size());
            line(analysis::trimmed(text.substr(0, end)));
            text.remove_prefix(std::min(end + 1, text.size()));
        }
        endSection();
        return std::move(listing_);
    }

private:
    [[nodiscard]] std::uint32_t count() const {
        return static_cast<std::uint32_t>(listing_.instructions.size());
    }

    void line(std::string_view text) {
        constexpr std::string_view functionWord = "Function : ";
        if (text.starts_with(".section")) {
            endSection();
        } else if (text.starts_with(functionWord)) { // cuobjdump
            endSection();
            enterFunction(std::string(text.substr(functionWord.size())));
        } else if (text.starts_with("//##")) {
            placeComment(text);
        } else if (const auto instruction = instructionIn(text)) {
            add(*instruction);
        } else if (text.ends_with(':') && text.find_first_of(" \t\"") == std::string_view::npos) {
            label(std::string(text.substr(0, text.size() - 1)));
        }
    }

    void label(std::string name) {
        if (name.starts_with(sectionPrefix))
            enterFunction(name.substr(sectionPrefix.size()));
        else if (name.starts_with('.'))
            waitingLabels_.push_back(std::move(name));
        else
            enterFunction(std::move(name));
    }

    /// A kernel has two labels: its own and its section's.
    void enterFunction(std::string symbol) {
        if (isInFunction_ && listing_.functions.back().symbol == symbol)
            return;
        if (isInFunction_ && listing_.functions.back().first == count())
            listing_.functions.pop_back();
        listing_.functions.push_back({std::move(symbol), count()});
        isInFunction_ = true;
        places_.clear();
        outermost_.reset();
    }

    /// Several comments in a row name one place and where it was inlined, innermost first.
    void placeComment(std::string_view text) {
        if (placesAreUsed_)
            places_.clear();
        placesAreUsed_ = false;
        const auto place = takePlace(text);
        outermost_ = place && text.find("inlined at") != std::string_view::npos ? takePlace(text)
                                                                                : std::nullopt;
        if (place && !place->file.starts_with(ptxFile))
            places_.push_back(codePlace(*place));
    }

    CodePlace codePlace(const NamedLine& place) {
        return {files_.indexOf(place.file), place.line - 1};
    }

    void add(const AddressedText& addressed) {
        if (!isInFunction_)
            return;
        if (!placesAreUsed_ && outermost_) // The comment names only one place.
            places_.push_back(codePlace(*outermost_));
        placesAreUsed_ = true;
        for (auto& name : waitingLabels_)
            listing_.labels.push_back({std::move(name), count()});
        waitingLabels_.clear();

        AssemblyInstruction instruction;
        instruction.address = addressed.address;
        instruction.text = withSingleBlanks(addressed.text);
        std::string_view rest = instruction.text;
        if (rest.starts_with('@'))
            rest.remove_prefix(std::min(rest.find(' '), rest.size() - 1) + 1);
        instruction.opcode = rest.substr(0, rest.find(' '));
        instruction.kind = classOfSass(instruction.opcode);
        instruction.function = static_cast<std::uint32_t>(listing_.functions.size() - 1);
        std::ranges::copy_if(places_, std::back_inserter(instruction.places),
                             [](const CodePlace& place) { return place.line != noLine; });
        listing_.instructions.push_back(std::move(instruction));
    }

    /// After a section's code come a jump to itself and NOPs.
    void endSection() {
        if (isInFunction_)
            markPadding();
        isInFunction_ = false;
        waitingLabels_.clear();
        places_.clear();
        outermost_.reset();
    }

    void markPadding() {
        auto& instructions = listing_.instructions;
        auto end = instructions.size();
        const auto first = listing_.functions.back().first;
        while (end > first && instructions[end - 1].opcode == "NOP")
            --end;
        if (end == first || !jumpsToItself(end - 1))
            return;
        for (auto i = end - 1; i < instructions.size(); ++i)
            instructions[i].kind = InstructionClass::Padding;
    }

    [[nodiscard]] bool jumpsToItself(std::size_t index) const {
        const auto& jump = listing_.instructions[index];
        const std::string_view text = jump.text;
        if (!text.starts_with("BRA "))
            return false;
        if (const auto hex = text.find("0x"); hex != std::string_view::npos)
            return numberAt<std::uint64_t>(text.substr(hex + 2), 16) == jump.address;
        const auto begin = text.find('(');
        if (begin == std::string_view::npos)
            return false;
        const auto target = text.substr(begin + 1, text.find(')', begin) - begin - 1);
        return std::ranges::any_of(listing_.labels, [&](const AssemblyLabel& label) {
            return label.before == index && label.name == target;
        });
    }

    /// The line of code that belongs to no source line; the table calls it line 0.
    static constexpr std::uint32_t noLine = UINT32_MAX;

    Listing listing_;
    FileTable files_;
    std::vector<std::string> waitingLabels_; ///< Wait for the next instruction.
    std::vector<CodePlace> places_;          ///< The places of the next instruction.
    std::optional<NamedLine> outermost_;     ///< The place where the last of `places_` was inlined.
    bool placesAreUsed_ = false;
    bool isInFunction_ = false;
};

} // namespace

Result<Listing> readSass(std::string_view text, const std::string& symbol) {
    auto listing = withCalledFunctions(Reader().run(text), symbol);
    if (!listing)
        return std::unexpected(
            Error{ErrorKind::Failed, "the disassembly holds no kernel " + symbol, {}, {}});
    return std::move(*listing);
}

} // namespace kernelskill::engine
