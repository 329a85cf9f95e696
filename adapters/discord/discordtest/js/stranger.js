// discord.js at the double. Everything that it sees or is told goes to standard
// output, one JSON object a line; it ends when standard input does.
//
//   node stranger.js watch   reads along and answers nobody
//   node stranger.js bot     registers commands and answers them
'use strict';

const {
  ActionRowBuilder, AttachmentBuilder, ButtonBuilder, ButtonStyle, Client, Events, GatewayIntentBits, MessageFlags,
  ModalBuilder, Options, Partials, SlashCommandBuilder, StringSelectMenuBuilder, TextInputBuilder, TextInputStyle,
} = require('discord.js');

const tell = (what, more = {}) => process.stdout.write(JSON.stringify({ what, ...more }) + '\n');
const failed = (where) => (error) => tell('error', { where, text: String((error && error.stack) || error) });
process.on('uncaughtException', failed('uncaught'));
process.on('unhandledRejection', failed('unhandled'));

const api = process.env.DISCORDTEST_API.replace(/\/v10$/, '');
const client = new Client({
  intents: [GatewayIntentBits.Guilds, GatewayIntentBits.GuildMessages, GatewayIntentBits.DirectMessages, GatewayIntentBits.MessageContent],
  partials: [Partials.Channel, Partials.Message],
  rest: { api, version: '10' },
  makeCache: Options.cacheWithLimits({ ...Options.DefaultMakeCacheSettings, MessageManager: 100 }),
});

// The buttons and menus of a component, in the order in which they are shown.
const controls = (c) => [
  ...([2, 3, 5, 6, 7, 8].includes(c.type) ? [c.customId ?? ''] : []),
  ...(c.components ?? []).flatMap(controls),
  ...(c.accessory ? controls(c.accessory) : []),
];

const seen = (m) => ({
  id: m.id,
  channel: m.channelId,
  author: m.author && m.author.username,
  content: m.content,
  files: [...m.attachments.values()].map((a) => ({ name: a.name, alt: a.description, url: a.url, size: a.size, width: a.width })),
  controls: m.components.flatMap(controls),
  buttons: Object.fromEntries(m.components.flatMap((row) => row.components ?? []).filter((c) => c.label).map((c) => [c.label, c.customId])),
  mentions: [...m.mentions.users.values()].map((u) => u.username),
  flags: m.flags.bitfield,
});

client.on(Events.MessageCreate, (m) => tell('message', seen(m)));
client.on(Events.MessageUpdate, (old, m) => tell('update', seen(m)));
client.on(Events.MessageDelete, (m) => tell('delete', { id: m.id, channel: m.channelId }));
client.on(Events.ThreadCreate, (t) => tell('thread', { id: t.id, name: t.name, parent: t.parentId }));
client.on(Events.ThreadUpdate, (old, t) => tell('thread update', { id: t.id, archived: t.archived, locked: t.locked }));
client.on(Events.GuildCreate, (g) => tell('guild', { id: g.id, name: g.name }));
client.on(Events.GuildDelete, (g) => tell('guild gone', { id: g.id }));
client.on(Events.ShardResume, (shard, replayed) => tell('resumed', { replayed }));
client.on(Events.ShardReconnecting, () => tell('reconnecting'));
client.on(Events.ShardDisconnect, (event) => tell('disconnected', { code: event.code }));
client.on(Events.Invalidated, () => tell('invalidated'));
client.on(Events.Error, failed('client'));
client.on(Events.Warn, (text) => tell('warning', { text }));
client.once(Events.ClientReady, (c) => tell('ready', { user: c.user.username, guilds: c.guilds.cache.map((g) => g.name) }));

// An image of one pixel.
const pixel = Buffer.from('iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg==', 'base64');
const buttons = (...labels) => new ActionRowBuilder().addComponents(
  labels.map((l) => new ButtonBuilder().setCustomId(l.toLowerCase()).setLabel(l).setStyle(ButtonStyle.Secondary)));

async function answer(i) {
  if (i.isAutocomplete()) {
    return i.respond(['C3', 'D4', 'E5'].filter((p) => p.startsWith(i.options.getFocused())).map((p) => ({ name: `${p} (legal)`, value: p })));
  }
  if (i.isChatInputCommand()) {
    switch (i.commandName) {
      case 'place':
        return i.reply({
          content: `Black ${i.options.getString('at')}. <@${i.user.id}>`,
          files: [new AttachmentBuilder(pixel, { name: 'board.png', description: 'One stone.' })],
          components: [buttons('Pass', 'Resign')],
          allowedMentions: { parse: [] },
        });
      case 'slow': {
        await i.deferReply({ flags: MessageFlags.Ephemeral });
        await i.editReply({ content: 'There you are.', files: [new AttachmentBuilder(pixel, { name: 'late.png' })] });
        const more = await i.followUp({ content: 'And more.', flags: MessageFlags.Ephemeral });
        return i.editReply({ message: more, content: 'And much more.' });
      }
      case 'ask':
        return i.showModal(new ModalBuilder().setCustomId('where').setTitle('Where?').addComponents(
          new ActionRowBuilder().addComponents(
            new TextInputBuilder().setCustomId('at').setLabel('Point').setStyle(TextInputStyle.Short).setMaxLength(4))));
      case 'new': {
        const reply = await i.reply({ content: 'A challenge.', withResponse: true });
        const thread = await reply.resource.message.startThread({ name: 'Two Button 9x9', autoArchiveDuration: 1440 });
        const first = await thread.send({
          content: 'Who plays?', nonce: 'n-1', enforceNonce: true,
          components: [new ActionRowBuilder().addComponents(new StringSelectMenuBuilder().setCustomId('seat').setPlaceholder('Seat')
            .addOptions({ label: 'Black', value: 'b' }, { label: 'White', value: 'w' }))],
        });
        const again = await thread.send({ content: 'Who plays?', nonce: 'n-1', enforceNonce: true });
        await first.edit({ content: 'Who plays first?' });
        const read = await thread.messages.fetch({ limit: 10 });
        const dm = await i.user.send('It begins.');
        const all = await client.application.commands.fetch();
        return tell('new', { same: again.id === first.id, read: read.size, dm: dm.id !== '', commands: [...all.values()].map((c) => c.name).sort() });
      }
    }
  }
  if (i.isButton()) return i.update({ content: `${i.user.displayName} chose ${i.customId}.`, components: [] });
  if (i.isStringSelectMenu()) {
    await i.deferUpdate();
    return i.editReply({ content: `Seat ${i.values[0]}.`, components: [] });
  }
  if (i.isModalSubmit()) return i.reply({ content: `At ${i.fields.getTextInputValue('at')}.`, flags: MessageFlags.Ephemeral });
  if (i.isMessageContextMenuCommand()) return i.reply({ content: `It says: ${i.targetMessage.content}`, flags: MessageFlags.Ephemeral });
  if (i.isUserContextMenuCommand()) return i.reply(`${i.targetUser.displayName} is challenged.`);
  return tell('error', { where: 'answer', text: `an unknown interaction of type ${i.type}` });
}

if (process.argv[2] === 'bot') {
  client.on(Events.InteractionCreate, (i) => {
    tell('interaction', { id: i.id, type: i.type, user: i.user.username, guild: i.guildId });
    answer(i).catch(failed('answer'));
  });
  client.once(Events.ClientReady, async (c) => {
    try {
      const text = (name) => new SlashCommandBuilder().setName(name).setDescription(`Does ${name}`);
      const point = (o) => o.setName('at').setDescription('Where').setRequired(true).setAutocomplete(true);
      const set = await c.application.commands.set([
        text('place').addStringOption(point).toJSON(), text('slow').toJSON(), text('ask').toJSON(), text('new').toJSON(),
        { name: 'Show as a Go board', type: 3 }, { name: 'Challenge to Go', type: 2 },
      ]);
      tell('registered', { n: set.size });
    } catch (error) {
      failed('register')(error);
    }
  });
}

process.stdin.resume();
process.stdin.on('end', () => client.destroy().finally(() => process.exit(0)));
client.login(process.env.DISCORDTEST_TOKEN).catch(failed('login'));
