#include "engine/inputs/launch_source.h"
#include "engine/inputs/marked_comments.h"
#include "engine/inputs/symbol_specs.h"

#include <algorithm>
#include <optional>

namespace kernelskill::engine {

using analysis::ExpressionKind;

namespace {

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

/// Adds the pins of the source that the file is read through. Errors in them are that source's
/// diagnostics.
void addPinsElsewhere(const analysis::FileModel& file, const ProgramText& program,
                      LaunchPins& result) {
    const auto source = file.otherSources.find(file.includer);
    if (source == file.otherSources.end() || !source->second->text().contains(commentMarker))
        return;
    for (MarkedComment& comment : markedComments(source->second->text()))
        if (const auto parsed = parsePin(comment.text);
            parsed && mismatch(*parsed, file, program).empty())
            result.pins.push_back({parsed->kernel, {}, std::move(comment.text)});
}

LaunchPins pinsIn(const analysis::FileModel& file, const ProgramText& program) {
    LaunchPins result;
    if (!file.source)
        return result;
    for (MarkedComment& comment : markedComments(file.source->text())) {
        if (comment.ignoresFindings())
            continue;
        const auto line = file.source->lineColumn(comment.marker).line + 1;
        const auto place = file.file + ":" + std::to_string(line);
        auto parsed = parsePin(comment.text);
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
        result.pins.push_back({parsed->kernel, comment.span, std::move(comment.text)});
    }
    addPinsElsewhere(file, program, result);
    return result;
}

} // namespace

LaunchPins findLaunchPins(const analysis::FileModel& file) {
    const auto includer = file.otherSources.find(file.includer);
    const bool mayHavePins =
        file.source &&
        (file.source->text().contains(commentMarker) ||
         (includer != file.otherSources.end() && includer->second->text().contains(commentMarker)));
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
