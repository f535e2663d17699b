#include "lsp-server/commands/assembly_text.h"

#include "lsp-server/documents/text_lookup.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <numeric>
#include <optional>
#include <set>
#include <utility>

namespace kernelskill::lsp {

namespace {

using engine::AssemblyInstruction;
using engine::AssemblyLanguage;
using engine::CodePlace;
using engine::InstructionClass;

std::optional<Colour> colourOf(InstructionClass kind) {
    switch (kind) {
    case InstructionClass::GlobalLoad:
    case InstructionClass::GlobalStore:
    case InstructionClass::GenericLoad:
    case InstructionClass::GenericStore:
    case InstructionClass::Texture:
    case InstructionClass::Atomic:
    case InstructionClass::AsyncCopy:
        return Colour::Yellow;
    case InstructionClass::LocalLoad:
    case InstructionClass::LocalStore:
        return Colour::Red;
    case InstructionClass::SharedLoad:
    case InstructionClass::SharedStore:
        return Colour::Cyan;
    case InstructionClass::Tensor:
    case InstructionClass::Float16:
    case InstructionClass::Float32:
    case InstructionClass::Float64:
    case InstructionClass::SpecialFunction:
        return Colour::Green;
    case InstructionClass::Barrier:
    case InstructionClass::Control:
        return Colour::Blue;
    default:
        return std::nullopt;
    }
}

/// The text with its opcode coloured, and filled up to `width` before that.
std::string painted(const Terminal& terminal, const AssemblyInstruction& instruction,
                    std::size_t width) {
    const std::string text = fmt::format("{:<{}}", instruction.text, width);
    const auto at = text.find(instruction.opcode);
    const auto colour = colourOf(instruction.kind);
    if (!colour || at == std::string::npos)
        return text;
    return text.substr(0, at) + terminal.paint(*colour, instruction.opcode) +
           text.substr(at + instruction.opcode.size());
}

/// "4 integer, 2 move": the most frequent first.
std::string countsText(const engine::ClassCounts& counts) {
    std::vector<std::size_t> order(counts.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::ranges::stable_sort(order, std::greater{}, [&](std::size_t i) { return counts[i]; });
    std::string text;
    for (const auto i : order) {
        const auto kind = static_cast<InstructionClass>(i);
        if (counts[i] == 0 || kind == InstructionClass::Padding)
            continue;
        text += fmt::format("{}{} {}", text.empty() ? "" : ", ", counts[i], title(kind));
    }
    return text;
}

std::string occupancyText(const analysis::Occupancy& occupancy) {
    return fmt::format("{:.3g} % ({} warps in {} blocks)", occupancy.percent, occupancy.warps,
                       occupancy.blocks);
}

/// One kernel's listing on its way to text.
class ListingText {
public:
    ListingText(const AssemblyVersion& version, const std::string& shownName,
                const Terminal& terminal)
        : assembly_(version.assembly), listing_(version.assembly.listing),
          mainFile_(version.program.file), shownName_(shownName), terminal_(terminal),
          texts_(version.program) {
        for (const auto& line : linesOf(assembly_))
            lineCounts_.emplace(line.place, line.counts);
        for (const auto& instruction : listing_.instructions)
            textWidth_ = std::max(textWidth_, instruction.text.size());
        textWidth_ = std::min(textWidth_, widestText);
    }

    std::string run() {
        header();
        auto label = listing_.labels.begin();
        for (std::uint32_t i = 0; i < listing_.instructions.size(); ++i) {
            const auto& instruction = listing_.instructions[i];
            if (instruction.kind == InstructionClass::Padding)
                continue;
            functionHeader(i);
            sourceLine(instruction);
            for (; label != listing_.labels.end() && label->before <= i; ++label) {
                if (label->before == i)
                    out_ += fmt::format("{} {}\n", gutter(),
                                        terminal_.paint(Colour::Bold, label->name + ":"));
            }
            line(instruction);
        }
        for (const std::string& note : assembly_.notes)
            out_ += "\n" + terminal_.paint(Colour::Dim, note) + "\n";
        return std::move(out_);
    }

private:
    static constexpr std::size_t widestText = 60; ///< Before the places of inlined code.

    std::string gutter(std::string_view number = "") const {
        return terminal_.paint(Colour::Dim, fmt::format("{:>5} |", number));
    }

    void header() {
        const auto& facts = assembly_.facts;
        out_ +=
            fmt::format("{}  {} for {}, {}{}\n", terminal_.paint(Colour::Bold, assembly_.kernel),
                        spelling(listing_.language), facts.architecture, facts.compiler,
                        assembly_.disassembler.empty() ? "" : ", " + assembly_.disassembler);
        const auto spills = facts.spillStoreBytes + facts.spillLoadBytes;
        std::vector<std::string> parts{
            fmt::format("{} registers", facts.registers),
            spills == 0 ? std::string("no spills")
                        : fmt::format("spills {} bytes stored, {} loaded", facts.spillStoreBytes,
                                      facts.spillLoadBytes),
            fmt::format("{} bytes of stack", facts.stackBytes),
            fmt::format("{} bytes of static shared memory", facts.staticSharedBytes),
            fmt::format("{} {}", facts.barriers, facts.barriers == 1 ? "barrier" : "barriers")};
        if (assembly_.occupancy)
            parts.push_back("occupancy " + occupancyText(*assembly_.occupancy));
        out_ += fmt::format("  {}\n", fmt::join(parts, " · "));
        const auto counts = engine::countClasses(listing_);
        out_ += fmt::format("  {} instructions: {}\n", engine::totalOf(counts), countsText(counts));
        for (const std::string& note : facts.notes)
            out_ += fmt::format("  {}\n", terminal_.paint(Colour::Dim, note));
    }

    void functionHeader(std::uint32_t index) {
        for (std::size_t f = 1; f < listing_.functions.size(); ++f) {
            const auto& function = listing_.functions[f];
            if (function.first != index)
                continue;
            out_ += fmt::format(
                "\n{}  {}\n", terminal_.paint(Colour::Bold, engine::readableName(function.symbol)),
                terminal_.paint(Colour::Dim, "called, not inlined"));
            isFirst_ = true;
        }
    }

    std::string nameOf(std::uint32_t file) const {
        const auto& path = listing_.files.at(file);
        if (path == mainFile_)
            return shownName_;
        return assembly_.isUsers.at(file) ? path : std::filesystem::path(path).filename().string();
    }

    /// Places from the shown one outwards: what the reader sees and where that was inlined.
    std::vector<CodePlace> outwards(const AssemblyInstruction& instruction) const {
        const auto shown = shownPlace(assembly_, instruction);
        if (!shown)
            return {};
        return {std::ranges::find(instruction.places, *shown), instruction.places.end()};
    }

    void sourceLine(const AssemblyInstruction& instruction) {
        auto places = outwards(instruction);
        if (!isFirst_ && places == places_)
            return;
        places_ = std::move(places);
        if (places_.empty()) {
            out_ += (isFirst_ ? "\n" : "") + gutter() +
                    terminal_.paint(Colour::Dim, " of no line") + "\n";
            isFirst_ = false;
            return;
        }
        const CodePlace& place = places_.front();
        if (isFirst_ || place.file != file_)
            out_ += fmt::format("{}{}\n", isFirst_ ? "\n" : "",
                                terminal_.paint(Colour::Dim, nameOf(place.file)));
        isFirst_ = false;
        file_ = place.file;
        const bool isNew = seen_.insert(place).second;
        const auto& source = texts_(listing_.files.at(place.file));
        std::string text = fmt::format(
            "{} {}", gutter(std::to_string(place.line + 1)),
            terminal_.paint(isNew ? Colour::Bold : Colour::Dim, source.line(place.line)));
        for (std::size_t i = 1; i < places_.size(); ++i)
            text += terminal_.paint(
                Colour::Dim,
                fmt::format("  inlined at {}{}",
                            places_[i].file == file_ ? "" : nameOf(places_[i].file) + ":",
                            places_[i].line + 1));
        if (isNew)
            text += terminal_.paint(Colour::Dim, "   " + countsText(lineCounts_.at(place)));
        out_ += text + "\n";
    }

    void line(const AssemblyInstruction& instruction) {
        std::string within; // headers that it came through to the line above
        for (const auto& place : instruction.places) {
            if (!places_.empty() && place == places_.front())
                break;
            within += fmt::format("{}{}:{}", within.empty() ? "" : " in ", nameOf(place.file),
                                  place.line + 1);
        }
        const std::string address = listing_.language == AssemblyLanguage::Sass
                                        ? fmt::format("{:04x}  ", instruction.address)
                                        : std::string();
        std::string text = painted(terminal_, instruction, within.empty() ? 0 : textWidth_);
        if (!within.empty())
            text += terminal_.paint(Colour::Dim, "  " + within);
        out_ += fmt::format("{}     {}{}\n", gutter(), terminal_.paint(Colour::Dim, address), text);
    }

    const engine::KernelAssembly& assembly_;
    const engine::Listing& listing_;
    const std::string& mainFile_;
    const std::string& shownName_;
    const Terminal& terminal_;
    TextLookup texts_;
    std::map<CodePlace, engine::ClassCounts> lineCounts_;
    std::size_t textWidth_ = 0;
    std::set<CodePlace> seen_;
    std::vector<CodePlace> places_; ///< The last instruction's places, from the shown one outwards.
    std::uint32_t file_ = 0;
    bool isFirst_ = true; ///< The next instruction is its function's first.
    std::string out_;
};

} // namespace

std::string listingText(const AssemblyVersion& version, const std::string& shownName,
                        const Terminal& terminal) {
    return ListingText(version, shownName, terminal).run();
}

} // namespace kernelskill::lsp
