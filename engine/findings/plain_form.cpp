#include "engine/findings/plain_form.h"

#include "analysis/parse/translation_unit.h"
#include "skills/base/gates.h"
#include "skills/schedule/counted_rounds.h"
#include "skills/schedule/element_threads.h"
#include "skills/schedule/expanded_macros.h"
#include "skills/schedule/inlined_calls.h"
#include "skills/schedule/named_fields.h"
#include "skills/schedule/named_positions.h"
#include "skills/schedule/promoted_places.h"
#include "skills/schedule/settled_values.h"
#include "skills/schedule/subscripted_places.h"

#include <algorithm>
#include <cstdint>
#include <regex>
#include <utility>

namespace kernelskill::engine {
namespace {

/// A step writes out one function, or rewrites the loops whose edits do not touch.
constexpr int maxSteps = 8;

using PlainStep = std::vector<analysis::TextEdit> (*)(const skills::SkillContext&);

/// Returns the steps in their order: each reads what the ones before have written.
std::vector<PlainStep> allSteps() {
    return {skills::expandedMacros, skills::namedPositions, skills::namedFields,
            skills::settledValues,  skills::inlinedCall,    skills::subscriptedPlaces,
            skills::countedRounds,  skills::elementThreads, skills::promotedPlaces};
}

std::ptrdiff_t errorsIn(const analysis::FileModel& model) {
    return std::ranges::count(model.diagnostics, analysis::Severity::Error,
                              &analysis::Diagnostic::severity);
}

/// Turns "line 12" of the plain form into the line of the text.
std::string withLinesOf(const analysis::SourceText& source, const PlainForm& form,
                        const std::string& text) {
    const std::regex lineNumber("\\bline ([0-9]{1,7})");
    std::string result;
    std::size_t done = 0;
    for (auto at = std::sregex_iterator(text.begin(), text.end(), lineNumber);
         at != std::sregex_iterator(); ++at) {
        const auto line = static_cast<std::uint32_t>(std::stoul((*at)[1].str()));
        const std::uint32_t offset = form.model->source->offset({line > 0 ? line - 1 : 0, 0});
        const analysis::Span before = analysis::spanBefore(form.edits, {offset, offset});
        result += text.substr(done, static_cast<std::size_t>(at->position(1)) - done);
        result += std::to_string(source.lineColumn(before.begin).line + 1);
        done = static_cast<std::size_t>(at->position(1) + at->length(1));
    }
    return result + text.substr(done);
}

/// Turns an offer for the plain form into one for the text: its place, and the lines that it names.
void moveToText(skills::Offer& offer, const analysis::SourceText& source, const PlainForm& form) {
    offer.plainAnchor = offer.anchor;
    offer.anchor = analysis::spanBefore(form.edits, offer.anchor);
    offer.title = withLinesOf(source, form, offer.title);
    offer.why = withLinesOf(source, form, offer.why);
    offer.why +=
        "; for that, the kernel is written in its plain form: loops count their rounds, a "
        "grid-stride loop gives each thread an element, and macros and functions with loops "
        "are written out";
}

/// Applies the edits to the form. Returns false and leaves the form as it was if the result does
/// not parse.
bool advance(PlainForm& form, const ProgramSource& program, std::vector<analysis::TextEdit> edits,
             const analysis::Toolchain& toolchain) {
    auto composed = analysis::composedEdits(program.text, form.edits, edits);
    const auto next = analysis::applyEdits(form.model->source->text(), std::move(edits));
    if (!composed || !next)
        return false;
    auto model =
        analysis::analyzeFile(program.file, *next, program.command, toolchain, program.unsaved);
    if (!model || errorsIn(*model) > errorsIn(*program.model) ||
        analysis::kernelNamed(*model, form.kernelName) == nullptr)
        return false;
    form.model = std::make_shared<const analysis::FileModel>(*std::move(model));
    form.edits = *std::move(composed);
    return true;
}

} // namespace

std::optional<PlainForm> plainFormOf(KernelRef kernel, const analysis::Toolchain& toolchain) {
    const ProgramSource& program = kernel.program;
    PlainForm form{program.model, kernel.kernel.qualifiedName, {}, {}};
    if (kernel.kernel.file != program.file)
        return std::nullopt;
    std::vector<PlainStep> steps = allSteps();
    for (int made = 0; made < maxSteps;) {
        const analysis::KernelModel& now = form.kernel();
        const skills::SkillContext context(*form.model, now, form.features, now.span);
        if (!skills::requireEditable(context))
            return std::nullopt;
        std::vector<analysis::TextEdit> edits;
        const auto step = std::ranges::find_if(steps, [&](PlainStep each) {
            edits = each(context);
            return !edits.empty();
        });
        if (step == steps.end())
            break;
        if (advance(form, program, std::move(edits), toolchain))
            ++made;
        else
            steps.erase(step);
    }
    if (form.edits.empty())
        return std::nullopt;
    form.features = analysis::extractFeatures(form.kernel());
    return form;
}

PlainOffers plainOffersOf(KernelRef kernel, const analysis::Features& features,
                          const std::vector<std::unique_ptr<skills::Skill>>& catalogue,
                          const analysis::Toolchain& toolchain) {
    PlainOffers all;
    all.form = plainFormOf(kernel, toolchain);
    if (!all.form)
        return all;
    const skills::SkillContext written(kernel.file(), kernel.kernel, features, kernel.kernel.span);
    const analysis::KernelModel& plain = all.form->kernel();
    const skills::SkillContext context(*all.form->model, plain, all.form->features, plain.span);
    for (const auto& skill : catalogue) {
        auto offer = skill->prepare(context);
        if (!offer || skill->prepare(written))
            continue;
        moveToText(*offer, *kernel.file().source, *all.form);
        all.offers.push_back(*std::move(offer));
        for (skills::Offer& alternative : skill->alternatives(context)) {
            moveToText(alternative, *kernel.file().source, *all.form);
            all.alternatives.push_back(std::move(alternative));
        }
    }
    return all;
}

} // namespace kernelskill::engine
