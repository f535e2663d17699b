#include "engine/inputs/launch_source.h"
#include "engine/inputs/symbol_specs.h"

#include <algorithm>
#include <optional>

namespace kernelskill::engine {

using analysis::Comment;
using analysis::ExpressionKind;

namespace {

constexpr std::string_view marker = "kernelskill:";

/// The text of a pin behind the marker, with comment delimiters and the stars of a block comment
/// blanked.
std::string pinText(const Comment& comment, std::size_t markerAt) {
    std::string text(comment.text.substr(markerAt + marker.size()));
    if (text.ends_with("*/"))
        text.resize(text.size() - 2);
    for (std::size_t i = 0; i + 1 < text.size(); ++i) {
        if (text[i] != '\n')
            continue;
        const auto next = text.find_first_not_of(" \t\r", i + 1);
        if (next != std::string::npos && text[next] == '*')
            text[next] = ' ';
    }
    return text;
}

/// Says how a well-formed pin contradicts the file; empty when it does not.
std::string mismatch(const ParsedPin& pin, const analysis::FileModel& file,
                     const ProgramText& program) {
    const auto kernel = std::ranges::find_if(file.kernels, [&](const auto& candidate) {
        return candidate.qualifiedName == pin.kernel ||
               candidate.name == analysis::lastName(pin.kernel);
    });
    if (kernel == file.kernels.end())
        return "there is no kernel '" + pin.kernel + "' in this file";
    for (const auto& argument : pin.arguments) {
        const auto parameter =
            std::ranges::find(kernel->parameters, argument.parameter, &analysis::Parameter::name);
        if (parameter == kernel->parameters.end() && isDeviceVariable(program, argument.parameter))
            continue;
        if (parameter == kernel->parameters.end())
            return "kernel '" + pin.kernel + "' has no parameter '" + argument.parameter + "'";
        const bool pointer = parameter->type.pointerDepth > 0;
        if (pointer && argument.value && argument.value->kind != ExpressionKind::Number)
            return "'" + argument.parameter + "' is a pointer: give it a buffer, e.g. rand[n]";
        if (!pointer && argument.fill)
            return "'" + argument.parameter + "' is no pointer: give it a value";
    }
    return {};
}

struct MarkedComment {
    Comment comment;
    std::size_t markerAt = 0;
};

/// The comments that begin with the marker.
std::vector<MarkedComment> markedComments(std::string_view text) {
    std::vector<MarkedComment> marked;
    for (const auto& comment : analysis::findComments(text)) {
        const auto at = comment.text.find(marker);
        if (at != std::string_view::npos &&
            comment.text.substr(0, at).find_first_not_of("/* \t\r\n!") == std::string_view::npos)
            marked.push_back({comment, at});
    }
    return marked;
}

/// Adds the pins of the source that the file is read through. Errors in them are that source's
/// diagnostics.
void addPinsElsewhere(const analysis::FileModel& file, const ProgramText& program,
                      LaunchPins& result) {
    const auto source = file.otherSources.find(file.includer);
    if (source == file.otherSources.end() || !source->second->text().contains(marker))
        return;
    for (const auto& [comment, at] : markedComments(source->second->text())) {
        auto text = pinText(comment, at);
        if (const auto parsed = parsePin(text); parsed && mismatch(*parsed, file, program).empty())
            result.pins.push_back({parsed->kernel, {}, std::move(text)});
    }
}

LaunchPins pinsIn(const analysis::FileModel& file, const ProgramText& program) {
    LaunchPins result;
    if (!file.source)
        return result;
    for (const auto& [comment, at] : markedComments(file.source->text())) {
        auto text = pinText(comment, at);
        const auto line =
            file.source->lineColumn(comment.span.begin + static_cast<std::uint32_t>(at)).line + 1;
        const auto place = file.file + ":" + std::to_string(line);
        auto parsed = parsePin(text);
        if (!parsed) {
            parsed.error().where = place;
            result.errors.push_back(std::move(parsed.error()));
            continue;
        }
        if (auto problem = mismatch(*parsed, file, program); !problem.empty()) {
            result.errors.push_back({ErrorKind::InvalidInput, std::move(problem), place,
                                     "write it as: // " + std::string(pinForm)});
            continue;
        }
        result.pins.push_back({parsed->kernel, comment.span, std::move(text)});
    }
    addPinsElsewhere(file, program, result);
    return result;
}

} // namespace

LaunchPins findLaunchPins(const analysis::FileModel& file) {
    const auto includer = file.otherSources.find(file.includer);
    const bool mayHavePins =
        file.source &&
        (file.source->text().contains(marker) ||
         (includer != file.otherSources.end() && includer->second->text().contains(marker)));
    return mayHavePins ? pinsIn(file, ProgramText(file)) : LaunchPins{};
}

LaunchSource::LaunchSource(const analysis::FileModel& file)
    : program_(file), pins_(pinsIn(file, program_)) {}

std::vector<ParsedPin> LaunchSource::pinsOf(const analysis::KernelModel& kernel) const {
    std::vector<ParsedPin> result;
    for (const LaunchPin& pin : pins_.pins) {
        const auto name = pin.kernel.substr(pin.kernel.rfind(':') + 1);
        if (pin.kernel != kernel.qualifiedName && name != kernel.name)
            continue;
        if (auto parsed = parsePin(pin.text))
            result.push_back(std::move(*parsed));
    }
    return result;
}

} // namespace kernelskill::engine
