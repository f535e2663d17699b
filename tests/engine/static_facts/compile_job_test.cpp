#include "engine/static_facts/compile_job.h"

#include <gtest/gtest.h>

namespace kernelskill::engine {
namespace {

TEST(CompileJob, ComesThroughWhole) {
    CompileJob job;
    job.library = "/opt/cuda/lib64/libnvrtc.so";
    job.architecture = "sm_80";
    job.request.file = "/a \"b\".cu";
    job.request.source = "line one\n\tline \\two\n";
    job.request.headers = {{"/a/b.h", "#pragma once\n"}, {"cmath", ""}};
    job.request.options = {"-DX=\"1\"", "-I/usr/include"};
    job.request.nameExpressions = {"k<float, 2>"};
    const auto decoded = decodeJob(encodeJob(job));
    ASSERT_TRUE(decoded) << decoded.error().describe();
    EXPECT_EQ(decoded->library, job.library);
    EXPECT_EQ(decoded->architecture, job.architecture);
    EXPECT_EQ(decoded->request.file, job.request.file);
    EXPECT_EQ(decoded->request.source, job.request.source);
    ASSERT_EQ(decoded->request.headers.size(), 2U);
    EXPECT_EQ(decoded->request.headers[0].name, "/a/b.h");
    EXPECT_EQ(decoded->request.headers[0].text, "#pragma once\n");
    EXPECT_EQ(decoded->request.options, job.request.options);
    EXPECT_EQ(decoded->request.nameExpressions, job.request.nameExpressions);
}

TEST(CompileJob, ReplacesBytesThatAreNotUtf8) {
    CompileJob job;
    job.request.source = "// caf\xe9\nint x;\n";
    const auto decoded = decodeJob(encodeJob(job));
    ASSERT_TRUE(decoded) << decoded.error().describe();
    EXPECT_TRUE(decoded->request.source.ends_with("\nint x;\n"));
}

TEST(CompileReply, CarriesTheOutcomeOrTheError) {
    const std::string cubin("\x7f"
                            "ELF\0\xff",
                            6);
    const auto reply = decodeReply(encodeReply(
        CompileReply{"NVRTC 13.0", true, "log\n", {"_Z1kPf"}, cubin, ".version 9.0\n"}));
    ASSERT_TRUE(reply) << reply.error().describe();
    EXPECT_EQ(reply->compiler, "NVRTC 13.0");
    EXPECT_EQ(versionText("NVRTC", 12080), "NVRTC 12.8");
    EXPECT_TRUE(reply->succeeded);
    EXPECT_EQ(reply->log, "log\n");
    EXPECT_EQ(reply->loweredNames, std::vector<std::string>{"_Z1kPf"});
    EXPECT_EQ(reply->cubin, cubin);
    EXPECT_EQ(reply->ptx, ".version 9.0\n");

    const auto error =
        decodeReply(encodeReply(std::unexpected(Error{ErrorKind::Unsupported, "a", "b", "c"})));
    ASSERT_FALSE(error);
    EXPECT_EQ(error.error().kind, ErrorKind::Unsupported);
    EXPECT_EQ(error.error().describe(), (Error{ErrorKind::Unsupported, "a", "b", "c"}).describe());
}

TEST(CompileReply, IsNotTakenFromWhatIsNone) {
    for (const auto* text : {"", "{", "[]", "{\"compiler\":\"x\"}", "{\"error\":{\"kind\":2}}",
                             "{\"compiler\":7,\"succeeded\":true,\"log\":\"\",\"names\":[]}"}) {
        const auto reply = decodeReply(text);
        ASSERT_FALSE(reply) << text;
        EXPECT_EQ(reply.error().kind, ErrorKind::Failed) << text;
    }
    EXPECT_FALSE(decodeJob("{}"));
}

} // namespace
} // namespace kernelskill::engine
