// Chat templates: recognised by text, and rendered as the original Jinja renders them (full strings; the start mark at
// the very beginning is the tokenizer's add_start).
#include "host/model/chat_template.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "host/base/error.hpp"

namespace lpu::model {
namespace {

// Texts of published templates, shortened to what is looked at where they are long.
constexpr std::string_view kSmolLm2 =
    "{% for message in messages %}{% if loop.first and messages[0]['role'] != 'system' %}{{ '<|im_start|>system\n"
    "You are a helpful AI assistant named SmolLM, trained by Hugging Face<|im_end|>\n' }}{% endif %}"
    "{{'<|im_start|>' + message['role'] + '\n' + message['content'] + '<|im_end|>' + '\n'}}{% endfor %}"
    "{% if add_generation_prompt %}{{ '<|im_start|>assistant\n' }}{% endif %}";
constexpr std::string_view kPlainChatMl =
    "{% for message in messages %}{{'<|im_start|>' + message['role'] + '\\n' + message['content'] + '<|im_end|>' + "
    "'\\n'}}{% endfor %}{% if add_generation_prompt %}{{ '<|im_start|>assistant\\n' }}{% endif %}";
constexpr std::string_view kQwen25 =
    "{%- if tools %}\n    {{- '<|im_start|>system\\n' }}\n    {%- if messages[0]['role'] == 'system' %}\n"
    "        {{- messages[0]['content'] }}\n    {%- else %}\n        {{- 'You are Qwen.' }}\n    {%- endif %}\n"
    "{%- else %}\n    {%- if messages[0]['role'] == 'system' %}\n"
    "        {{- '<|im_start|>system\\n' + messages[0]['content'] + '<|im_end|>\\n' }}\n    {%- else %}\n"
    "        {{- '<|im_start|>system\\nYou are Qwen, created by Alibaba Cloud. You are a helpful "
    "assistant.<|im_end|>\\n' "
    "}}\n    {%- endif %}\n{%- endif %}\n";
constexpr std::string_view kLlama2 =
    "{% if messages[0]['role'] == 'system' %}{% set system_message = messages[0]['content'] %}{% endif %}"
    "{% set content = '<<SYS>>\\n' + system_message + '\\n<</SYS>>\\n\\n' + message['content'] %}"
    "{{ bos_token + '[INST] ' + content.strip() + ' [/INST]' }}{{ ' '  + content.strip() + ' ' + eos_token }}";
constexpr std::string_view kLlama3 =
    "{% set loop_messages = messages %}{% for message in loop_messages %}{% set content = '<|start_header_id|>' + "
    "message['role'] + '<|end_header_id|>\\n\\n'+ message['content'] | trim + '<|eot_id|>' %}{% if loop.index0 == 0 %}"
    "{% set content = bos_token + content %}{% endif %}{{ content }}{% endfor %}";
constexpr std::string_view kLlama32 =
    "{%- set date_string = \"26 Jul 2024\" %}{{- \"<|start_header_id|>system<|end_header_id|>\\n\\n\" }}"
    "{{- \"Cutting Knowledge Date: December 2023\\n\" }}{{- \"Today Date: \" + date_string + \"\\n\\n\" }}"
    "{{- system_message }}{{- \"<|eot_id|>\" }}";
constexpr std::string_view kMistral2 =
    "{{ bos_token }}{% for message in messages %}{% if message['role'] == 'user' %}{{ '[INST] ' + message['content'] + "
    "' [/INST]' }}{% elif message['role'] == 'assistant' %}{{ message['content'] + eos_token}}{% endif %}{% endfor %}";
constexpr std::string_view kMistral2Late =
    "{{- bos_token }}{%- if loop.first and system_message is defined %}{{- \" [INST] \" + system_message + \"\\n\\n\" "
    "+ "
    "message[\"content\"] + \" [/INST]\" }}{%- else %}{{- \" [INST] \" + message[\"content\"] + \" [/INST]\" }}{%- "
    "endif "
    "%}{%- elif message[\"role\"] == \"assistant\" %}{{- \" \" + message[\"content\"] + eos_token}}";
constexpr std::string_view kMistral3 =
    "{{- bos_token }}{%- if loop.last and system_message is defined %}{{- \"[INST] \" + system_message + \"\\n\\n\" + "
    "message[\"content\"] + \"[/INST]\" }}{%- else %}{{- \"[INST] \" + message[\"content\"] + \"[/INST]\" }}{%- endif "
    "%}"
    "{{- \" \" + message[\"content\"]|trim + eos_token}}";
constexpr std::string_view kZephyr =
    "{% for message in messages %}\n{% if message['role'] == 'user' %}\n{{ '<|user|>\n' + message['content'] + "
    "eos_token "
    "}}\n{% elif message['role'] == 'assistant' %}\n{{ '<|assistant|>\n'  + message['content'] + eos_token }}\n{% "
    "endif "
    "%}\n{% endfor %}";
constexpr std::string_view kGemma =
    "{{ bos_token }}{{ '<start_of_turn>' + role + '\\n' + message['content'] | trim + '<end_of_turn>\\n' }}";

using Messages = std::vector<ChatMessage>;
const Messages kUser = {{"user", "Hi"}};
const Messages kDialog = {{"system", "Be brief."}, {"user", "Hi"}, {"assistant", "Hello!"}, {"user", "Bye"}};

std::string render(ChatTemplate which, const Messages& messages, std::string_view jinja = {}) {
  std::string text;
  for (const PromptPiece& piece : apply_chat_template(which, messages, jinja)) text += piece.text;
  return text;
}

TEST(ChatTemplateRecognition, PublishedTemplatesAreKnownByTheirText) {
  EXPECT_EQ(recognise_chat_template(kSmolLm2), ChatTemplate::kChatMl);
  EXPECT_EQ(recognise_chat_template(kQwen25), ChatTemplate::kChatMl);
  EXPECT_EQ(recognise_chat_template(kLlama2), ChatTemplate::kLlama2);
  EXPECT_EQ(recognise_chat_template(kLlama3), ChatTemplate::kLlama3);
  EXPECT_EQ(recognise_chat_template(kLlama32), ChatTemplate::kLlama3);
  EXPECT_EQ(recognise_chat_template(kMistral2), ChatTemplate::kMistral);
  EXPECT_EQ(recognise_chat_template(kMistral3), ChatTemplate::kMistral);
  EXPECT_EQ(recognise_chat_template(kZephyr), ChatTemplate::kZephyr);
  EXPECT_EQ(recognise_chat_template(kGemma), ChatTemplate::kGemma);
}

TEST(ChatTemplateRecognition, RelativesThatRenderOtherwiseAreNot) {
  EXPECT_EQ(recognise_chat_template(""), std::nullopt);
  EXPECT_EQ(recognise_chat_template("{{ messages }}"), std::nullopt);
  EXPECT_EQ(recognise_chat_template("{{ '<|im_start|>user<|im_sep|>' + c + '<|im_end|>' }}"), std::nullopt);  // Phi-4
  EXPECT_EQ(recognise_chat_template("{{ '<|user|>\n' + c + '<|end|>\n<|assistant|>' + eos_token }}"),
            std::nullopt);  // Phi-3
  EXPECT_EQ(recognise_chat_template("{{ '[SYSTEM_PROMPT]' + s + '[INST]' + c + '[/INST]' }}"), std::nullopt);
}

TEST(ChatTemplateNames, EveryTemplateHasOneAndUnknownOnesAreRefused) {
  for (const char* name : {"chatml", "llama2", "llama3", "mistral", "zephyr", "gemma"}) {
    EXPECT_EQ(name_of(chat_template_by_name(name)), name);
  }
  try {
    chat_template_by_name("alpaca");
    FAIL() << "accepted";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::kUsage);
    EXPECT_THAT(error.what(), testing::HasSubstr("chatml, llama2, llama3, mistral, zephyr, gemma"));
  }
}

TEST(ChatMl, SmolLm2sDefaultSystemMessageComesFromTheFile) {
  EXPECT_EQ(render(ChatTemplate::kChatMl, kUser, kSmolLm2),
            "<|im_start|>system\nYou are a helpful AI assistant named SmolLM, trained by Hugging Face<|im_end|>\n"
            "<|im_start|>user\nHi<|im_end|>\n<|im_start|>assistant\n");
}

TEST(ChatMl, Qwens25DefaultSystemMessageIsTheOneWithoutTools) {
  EXPECT_EQ(render(ChatTemplate::kChatMl, kUser, kQwen25),
            "<|im_start|>system\nYou are Qwen, created by Alibaba Cloud. You are a helpful assistant.<|im_end|>\n"
            "<|im_start|>user\nHi<|im_end|>\n<|im_start|>assistant\n");
}

TEST(ChatMl, TemplateWithoutADefaultHasNoSystemMessage) {
  for (const std::string_view jinja : {kPlainChatMl, std::string_view()}) {
    EXPECT_EQ(render(ChatTemplate::kChatMl, kUser, jinja), "<|im_start|>user\nHi<|im_end|>\n<|im_start|>assistant\n");
  }
}

TEST(ChatMl, OwnSystemMessageReplacesTheDefault) {
  EXPECT_EQ(render(ChatTemplate::kChatMl, kDialog, kSmolLm2),
            "<|im_start|>system\nBe brief.<|im_end|>\n<|im_start|>user\nHi<|im_end|>\n<|im_start|>assistant\nHello!"
            "<|im_end|>\n<|im_start|>user\nBye<|im_end|>\n<|im_start|>assistant\n");
  EXPECT_EQ(render(ChatTemplate::kChatMl, {}, kSmolLm2), "<|im_start|>assistant\n");
}

TEST(ChatMl, TextIsNotTrimmed) {
  EXPECT_EQ(render(ChatTemplate::kChatMl, {{"user", " \nHi\n "}}),
            "<|im_start|>user\n \nHi\n <|im_end|>\n<|im_start|>assistant\n");
}

TEST(ChatMl, ContentAndTemplateAreToldApart) {
  const auto pieces = apply_chat_template(ChatTemplate::kChatMl, {{"user", "<|im_end|>"}}, kSmolLm2);
  ASSERT_EQ(pieces.size(), 3U);
  EXPECT_TRUE(pieces[0].is_template);
  EXPECT_FALSE(pieces[1].is_template);
  EXPECT_EQ(pieces[1].text, "<|im_end|>");
  EXPECT_TRUE(pieces[2].is_template);
}

TEST(Llama2, SystemMessageStandsInTheFirstInstruction) {
  EXPECT_EQ(render(ChatTemplate::kLlama2, kDialog, kLlama2),
            "[INST] <<SYS>>\nBe brief.\n<</SYS>>\n\nHi [/INST] Hello! </s><s>[INST] Bye [/INST]");
  EXPECT_EQ(render(ChatTemplate::kLlama2, {{"user", "  Hi \n"}}, kLlama2), "[INST] Hi [/INST]");
  EXPECT_EQ(render(ChatTemplate::kLlama2, {{"system", " S "}, {"user", "\nHi\t"}}, kLlama2),
            "[INST] <<SYS>>\n S \n<</SYS>>\n\n\nHi [/INST]");
  EXPECT_EQ(render(ChatTemplate::kLlama2, {{"system", "S"}, {"user", " \n"}}, kLlama2),
            "[INST] <<SYS>>\nS\n<</SYS>> [/INST]");
}

TEST(Llama3, MessagesAreTrimmedAndHaveHeaders) {
  EXPECT_EQ(
      render(ChatTemplate::kLlama3, kDialog, kLlama3),
      "<|start_header_id|>system<|end_header_id|>\n\nBe brief.<|eot_id|><|start_header_id|>user<|end_header_id|>\n\n"
      "Hi<|eot_id|><|start_header_id|>assistant<|end_header_id|>\n\nHello!<|eot_id|>"
      "<|start_header_id|>user<|end_header_id|>\n\nBye<|eot_id|><|start_header_id|>assistant<|end_header_id|>\n\n");
  EXPECT_EQ(
      render(ChatTemplate::kLlama3, {{"user", "\xE3\x80\x80 Hi\xC2\xA0\x1C\n"}}, kLlama3),
      "<|start_header_id|>user<|end_header_id|>\n\nHi<|eot_id|><|start_header_id|>assistant<|end_header_id|>\n\n");
}

TEST(Llama3, LaterTemplatesAlwaysHaveASystemMessageWithDates) {
  const std::string dates =
      "<|start_header_id|>system<|end_header_id|>\n\nCutting Knowledge Date: December 2023\nToday Date: 26 Jul "
      "2024\n\n";
  const std::string rest =
      "<|eot_id|><|start_header_id|>user<|end_header_id|>\n\nHi<|eot_id|><|start_header_id|>assistant<|end_header_id|>"
      "\n\n";
  EXPECT_EQ(render(ChatTemplate::kLlama3, kUser, kLlama32), dates + rest);
  EXPECT_EQ(render(ChatTemplate::kLlama3, {{"system", " S "}, {"user", "Hi"}}, kLlama32), dates + "S" + rest);
}

TEST(Mistral, SpacesAreThoseOfTheFilesTemplate) {
  const Messages dialog = {{"user", "Hi"}, {"assistant", "Hello! "}, {"user", "Bye"}};
  EXPECT_EQ(render(ChatTemplate::kMistral, dialog, kMistral2), "[INST] Hi [/INST]Hello! </s>[INST] Bye [/INST]");
  EXPECT_EQ(render(ChatTemplate::kMistral, dialog), "[INST] Hi [/INST]Hello! </s>[INST] Bye [/INST]");
  EXPECT_EQ(render(ChatTemplate::kMistral, dialog, kMistral2Late), " [INST] Hi [/INST] Hello! </s> [INST] Bye [/INST]");
  EXPECT_EQ(render(ChatTemplate::kMistral, dialog, kMistral3), "[INST] Hi[/INST] Hello!</s>[INST] Bye[/INST]");
}

TEST(Mistral, SystemMessageStandsWhereTheFilesTemplatePutsIt) {
  EXPECT_EQ(render(ChatTemplate::kMistral, kDialog, kMistral2Late),
            " [INST] Be brief.\n\nHi [/INST] Hello!</s> [INST] Bye [/INST]");
  EXPECT_EQ(render(ChatTemplate::kMistral, kDialog, kMistral3),
            "[INST] Hi[/INST] Hello!</s>[INST] Be brief.\n\nBye[/INST]");
}

TEST(Zephyr, EveryMessageEndsInTheEndMarkAndALine) {
  EXPECT_EQ(
      render(ChatTemplate::kZephyr, kDialog, kZephyr),
      "<|system|>\nBe brief.</s>\n<|user|>\nHi</s>\n<|assistant|>\nHello!</s>\n<|user|>\nBye</s>\n<|assistant|>\n");
}

TEST(Gemma, AssistantIsCalledModel) {
  EXPECT_EQ(render(ChatTemplate::kGemma, {{"user", " Hi "}, {"assistant", "Hello!"}, {"user", "Bye"}}, kGemma),
            "<start_of_turn>user\nHi<end_of_turn>\n<start_of_turn>model\nHello!<end_of_turn>\n"
            "<start_of_turn>user\nBye<end_of_turn>\n<start_of_turn>model\n");
  EXPECT_EQ(render(ChatTemplate::kGemma, {{"system", "S"}, {"user", "Hi"}}, kGemma),
            "<start_of_turn>user\nS\n\nHi<end_of_turn>\n<start_of_turn>model\n");
}

TEST(ChatTemplateRefusals, RolesThatTheTemplateCanNotSayAreRefused) {
  for (const ChatTemplate which : {ChatTemplate::kLlama2, ChatTemplate::kMistral, ChatTemplate::kGemma}) {
    EXPECT_THROW(render(which, {{"assistant", "Hi"}}), Error);
    EXPECT_THROW(render(which, {{"user", "a"}, {"user", "b"}}), Error);
    EXPECT_THROW(render(which, {{"user", "a"}, {"system", "b"}}), Error);
    EXPECT_THROW(render(which, {{"system", "a"}}), Error);
  }
  for (const char* name : {"chatml", "llama2", "llama3", "mistral", "zephyr", "gemma"}) {
    EXPECT_THROW(render(chat_template_by_name(name), {{"tool", "a"}}), Error) << name;
    EXPECT_THROW(render(chat_template_by_name(name), {{"user|>", "a"}}), Error) << name;
  }
}

TEST(ChatTemplateText, HostileTextIsOnlySearched) {
  std::string open_tags;
  for (int i = 0; i < 20000; ++i) open_tags += "{{ '<|im_start|>system\n";
  for (const std::string& jinja :
       {open_tags, std::string("{{"), std::string("{%"), std::string("{{ '"), std::string("{{ '\\"),
        std::string("{{ ''.__class__.__mro__[1] }}<|im_start|>system\n{{ x }}<|im_end|>")}) {
    EXPECT_EQ(render(ChatTemplate::kChatMl, kUser, jinja), "<|im_start|>user\nHi<|im_end|>\n<|im_start|>assistant\n");
    EXPECT_NO_THROW(render(ChatTemplate::kMistral, kUser, jinja));
  }
}

TEST(ChatTemplateText, EscapesAndRawTextAreRead) {
  EXPECT_EQ(render(ChatTemplate::kChatMl, kUser, "{{ \"<|im_start|>system\\nIt's \\\"so\\\"\\\\\\t!<|im_end|>\" }}"),
            "<|im_start|>system\nIt's \"so\"\\\t!<|im_end|>\n<|im_start|>user\nHi<|im_end|>\n<|im_start|>assistant\n");
  EXPECT_EQ(render(ChatTemplate::kChatMl, kUser, "{% if x %}<|im_start|>system\nRaw.<|im_end|>\n{% endif %}"),
            "<|im_start|>system\nRaw.<|im_end|>\n<|im_start|>user\nHi<|im_end|>\n<|im_start|>assistant\n");
}

}  // namespace
}  // namespace lpu::model
