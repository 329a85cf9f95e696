-- +goose Up
CREATE INDEX post_parked ON post (platform, channel) WHERE state = 'parked';
