/// A kernel rewritten in one form, so that skills take it whatever the style it was written in.
#pragma once

#include "analysis/command/toolchain.h"
#include "analysis/features/features.h"
#include "analysis/source/text_edit.h"
#include "engine/execution/kernel_ref.h"
#include "skills/base/skill.h"

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace kernelskill::engine {

/// The kernel's file with macros and functions with loops written out, places as elements of
/// arrays, loops as counted ones, and a thread for each element: see the steps of plain_form.cpp.
/// It does what the file does.
struct PlainForm {
    std::shared_ptr<const analysis::FileModel> model;
    std::string kernelName; ///< Qualified; the model has it.
    analysis::Features features;
    std::vector<analysis::TextEdit> edits; ///< Of the kernel's file: they make the plain form.

    [[nodiscard]] const analysis::KernelModel& kernel() const {
        return *analysis::kernelNamed(*model, kernelName);
    }
};

/// nullopt for a kernel that has that form, that no edit may touch, or whose plain form does not
/// parse. Parses the file again otherwise, which takes a fraction of a second.
[[nodiscard]] std::optional<PlainForm> plainFormOf(KernelRef kernel,
                                                   const analysis::Toolchain& toolchain);

/// The offers of skills that refuse the kernel itself and take its plain form.
struct PlainOffers {
    std::optional<PlainForm> form;
    /// Offer::plainAnchor is set.
    std::vector<skills::Offer> offers;
    std::vector<skills::Offer> alternatives; ///< Further options of these offers.
};

[[nodiscard]] PlainOffers
plainOffersOf(KernelRef kernel, const analysis::Features& features,
              const std::vector<std::unique_ptr<skills::Skill>>& catalogue,
              const analysis::Toolchain& toolchain);

} // namespace kernelskill::engine
