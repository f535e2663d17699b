#include "analysis/source/json.h"
#include "lsp-server/protocol/text_document.h"

#include <gtest/gtest.h>

namespace kernelskill::lsp {
namespace {

using nlohmann::json;

TEST(TextDocument, KeepsATextWhoseVersionNoIntegerHolds) {
    const auto item =
        json::parse(R"({"uri":"file:///a.cu","languageId":"cuda","version":5000000000,"text":"t"})")
            .get<TextDocumentItem>();
    EXPECT_EQ(item.text, "t");
    EXPECT_EQ(item.version, 0);
    const auto change = json::parse(R"({"textDocument":{"uri":"file:///a.cu","version":5000000000},
                                        "contentChanges":[{"text":"u"}]})")
                            .get<DidChangeTextDocumentParams>();
    EXPECT_EQ(change.contentChanges.size(), 1u);
    EXPECT_FALSE(change.version);
}

} // namespace
} // namespace kernelskill::lsp
